#include "stores/table/marks.h"

#include <algorithm>
#include <unordered_set>

namespace outrider::table {
namespace {

using postgres::native_code_of;

// Conditions that pass, and those that are nobody's who wrote the table: classes of SQLSTATE.
constexpr std::string_view kOthers[] = {
    "08",     // the connection
    "25",     // the transaction: read only, idle for too long
    "40",     // rolled back: serialization, deadlock
    "53",     // no room
    "55P03",  // lock not available
    "57",     // stopped by an operator, timed out
    "58",     // the machine
    "XX"};

// Ours, for a count that is not that of the rows.
constexpr int kTooFew = native_code_of("22012");

bool has_class(int code, std::string_view prefix) {
    for (std::size_t rest = prefix.size(); rest < 5; ++rest) code /= 36;
    return code == native_code_of(prefix);
}

std::string reason_of(const Error& why) {
    if (why.native_code != kTooFew) return why.text;
    return "fewer rows are changed than were asked for, without an error";
}

constexpr std::string_view kToDo =
    "A trigger, a rule, a policy or a check keeps them from being marked: change it, or settle the "
    "rows by hand";

}  // namespace

bool is_refusal(const Error& error) {
    if (error.native_code == 0) return false;
    return std::none_of(std::begin(kOthers), std::end(kOthers), [&](std::string_view prefix) {
        return has_class(error.native_code, prefix);
    });
}

Result<std::vector<std::size_t>> MarkSearch::run(std::span<const Settlement> settlements) {
    if (Result<void> undone = undo(); !undone) return undone.error();
    std::vector<std::size_t> delivered;
    for (std::size_t i = 0; i < settlements.size(); ++i) {
        if (settlements[i].fate == Fate::done) delivered.push_back(i);
    }
    if (Result<void> searched = split(delivered); !searched) return searched.error();
    return refused_;
}

Result<void> MarkSearch::split(std::span<const std::size_t> rows) {
    if (rows.empty()) return {};
    const Result<bool> taken = takes(rows);
    if (!taken) return taken.error();
    if (*taken) return {};
    if (rows.size() == 1) {
        refused_.push_back(rows.front());
        return {};
    }
    const std::size_t half = rows.size() / 2;
    if (Result<void> first = split(rows.first(half)); !first) return first;
    return split(rows.subspan(half));
}

Result<bool> MarkSearch::takes(std::span<const std::size_t> rows) {
    std::vector<Settlement> only(claim_.places.size());
    for (const std::size_t row : rows) only[row].fate = Fate::done;
    Settler settler = settler_;
    settler.add(claim_, only, true);
    const auto tried = pipeline_.finish();
    if (!tried && !is_refusal(tried.error())) return tried.error();
    if (Result<void> undone = undo(); !undone) return undone.error();
    return tried.has_value();
}

Result<void> MarkSearch::undo() const {
    return connection_.run_script("rollback to " + std::string(kBeforeMarks));
}

std::vector<Settlement> without(
    std::span<const std::size_t> unmarked,
    const Batch& batch,
    std::span<const Settlement> settlements,
    const Destination& destination
) {
    std::vector<Settlement> rest(settlements.begin(), settlements.end());
    for (const std::size_t row : unmarked) rest[row] = Settlement{};
    if (!blocks(destination)) return rest;
    std::unordered_set<OrderKey> stopped;
    for (std::size_t i = 0; i < rest.size(); ++i) {
        const OrderKey key = batch.envelopes[i].order_key;
        if (std::binary_search(unmarked.begin(), unmarked.end(), i)) stopped.insert(key);
        if (stopped.contains(key)) rest[i] = Settlement{};
    }
    return rest;
}

Error unmarked_batch(const Error& why) {
    return {
        Remedy::correct,
        "rows were delivered, and the table does not take the mark, so they are delivered again: " +
            reason_of(why) + ". " + std::string(kToDo)};
}

Error unmarked_rows(
    std::span<const std::size_t> unmarked,
    const Claim& claim,
    std::span<const Settlement> settlements,
    const Error& why
) {
    const auto delivered = std::count_if(settlements.begin(), settlements.end(), [](const auto& s) {
        return s.fate == Fate::done;
    });
    const auto taken = static_cast<std::size_t>(delivered) - unmarked.size();
    return {
        Remedy::correct,
        "the table took the mark of " + std::to_string(taken) + " of " + std::to_string(delivered) +
            " delivered rows; the others, such as the row with id " +
            std::string(claim.places[unmarked.front()].id) +
            ", are delivered again, ever more seldom: " + reason_of(why) + ". " +
            std::string(kToDo)};
}

}  // namespace outrider::table
