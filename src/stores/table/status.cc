#include "stores/table/status.h"

#include <bit>

#include "core/clock.h"
#include "stores/table/claim.h"
#include "stores/table/sql.h"

namespace outrider::table {
namespace {

using postgres::ArrayText;
using postgres::Parameters;
using postgres::Rows;

// Columns of status.sql.
enum StatusColumn : int {
    kPending,
    kParked,
    kDead,
    kAge,
    kReason,
    kHeldBack,
};

// What waits, and what waits behind it, in the words of the claim.
std::string status_statement(const Wording& wording, const Destination& destination) {
    const bool holds = blocks(destination) && destination.after_death == AfterDeath::hold;
    const std::string waits = "({attempts} > 0 or coalesce({due} > clock_timestamp(), false))";
    const std::string alive_waits = "{alive} and " + waits;
    const std::string stuck = holds ? "((" + alive_waits + ") or {buried})" : alive_waits;
    const std::string lane = destination.order == Order::global ? "'*'::text" : "{key}";
    const std::string behind =
        blocks(destination)
            ? "exists (select from stuck s where s.lane = " + lane + " and s.place < row({order}))"
            : "false";
    const auto filled = [&](const std::string& text) { return wording.fill(text, destination); };
    const Wording::Parts parts = {
        {"waits", filled(waits)},
        {"stuck", filled(stuck)},
        {"lane", filled(lane)},
        {"behind", filled(behind)}};
    return wording.fill(sql::status, destination, parts);
}

std::string array_of(const std::vector<std::string>& texts) {
    ArrayText array;
    for (const std::string& text : texts) array.add(std::string_view(text));
    return array.text();
}

// $2 and $3.
void add_held(Parameters& parameters, const Destination& destination, const Held* held) {
    Held::Waiting waiting;
    if (held != nullptr) waiting = held->waiting(SystemClock().now());
    if (!blocks(destination)) waiting.keys.clear();
    const bool stops_all = blocks(destination) && destination.order == Order::global;
    if (stops_all && !waiting.ids.empty()) waiting.keys = {"*"};
    parameters.add(std::string_view(array_of(waiting.ids)));
    parameters.add(std::string_view(array_of(waiting.keys)));
}

}  // namespace

Result<DestinationStatus> read_status(
    const postgres::Connection& connection,
    const Wording& wording,
    const Destination& destination,
    const Held* held
) {
    Parameters parameters;
    parameters.add(kCountMax);
    add_held(parameters, destination, held);
    const Result<Rows> counted = connection.run(status_statement(wording, destination), parameters);
    if (!counted) return counted.error();
    const auto count = [&](int column) {
        return static_cast<std::uint64_t>(counted->integer(0, column));
    };
    DestinationStatus status;
    status.name = destination.name;
    status.topics = destination.topics;
    status.pending = count(kPending);
    status.parked = count(kParked);
    status.dead = count(kDead);
    status.count_max = static_cast<std::uint64_t>(kCountMax);
    status.held_back = count(kHeldBack);
    if (!counted->is_null(0, kAge)) {
        const auto seconds = std::bit_cast<double>(counted->integer(0, kAge));
        status.oldest_pending_age = Duration(static_cast<Duration::rep>(seconds * 1e6));
    }
    status.parked_reason = counted->bytes(0, kReason);
    return status;
}

}  // namespace outrider::table
