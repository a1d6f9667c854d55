#include "stores/table/claim.h"

#include <algorithm>
#include <array>

#include "core/assert.h"
#include "core/hash.h"
#include "stores/postgres/claim.h"
#include "stores/shared/headers.h"
#include "stores/shared/texts.h"

namespace outrider::table {
namespace {

using postgres::from_server_time;
using postgres::Rows;

// Columns of claim_rows.sql and claim_free.sql.
enum RowColumn : int {
    kId,
    kKey,
    kDue,
    kBuried,
    kSkipped,
    kPlace,
    kPart,
    kMessageId,
    kTopic,
    kType,
    kContentType,
    kHeaders,
    kOccurred,
    kAttempts,
    kOver,
    kPayload,
    kNow,
};

constexpr std::string_view kNoTopic = "the row has no topic";

MessageId read_id(std::string_view raw) {
    std::array<std::uint8_t, 16> id{};
    OUTRIDER_ASSERT(raw.size() == id.size());
    std::copy(raw.begin(), raw.end(), id.begin());
    return MessageId(id);
}

}  // namespace

std::size_t ClaimReader::read(Rows read, MonoTime now, std::int64_t first) {
    const Rows& rows = claim_.rows.emplace_back(std::move(read));
    std::size_t bytes = 0;
    any_held_ = !held_.empty();
    for (int row = 0; row < rows.count(); ++row) {
        batch_.now = from_server_time(rows.integer(row, kNow));
        const std::string_view key =
            destination_.order == Order::global ? std::string_view("*") : rows.bytes(row, kKey);
        if (!key.empty() && stopped_.contains(key)) continue;
        if (!may_go(rows, row, now)) {
            if (!key.empty() && destination_.order != Order::none) stopped_.emplace(key);
            continue;
        }
        const bool has_room = batch_.envelopes.size() < limits_.messages;
        if (!has_room || rows.boolean(row, kOver)) {
            batch_.full = true;
            return bytes;
        }
        batch_.envelopes.push_back(read_row(rows, row, first++));
        bytes += batch_.envelopes.back().payload.size();
    }
    return bytes;
}

// In the order of the reasons: a dead letter that holds its key, not due, in other hands, not asked
// for.
bool ClaimReader::may_go(const Rows& rows, int row, MonoTime now) {
    if (rows.boolean(row, kBuried)) {
        wait(rows, row, now + kHoldingLook);
        return false;
    }
    if (!rows.is_null(row, kDue)) {
        const Duration left = from_server_time(rows.integer(row, kDue)) - batch_.now;
        if (left > Duration::zero()) {
            wait(rows, row, now + left);
            return false;
        }
    }
    if (rows.boolean(row, kSkipped)) return false;
    return chosen_.empty() || chosen_.contains(rows.bytes(row, kId));
}

void ClaimReader::wait(const Rows& rows, int row, MonoTime until) {
    const std::string id(rows.bytes(row, kId));
    Held::Entry entry = held_.find(id).value_or(Held::Entry{});
    entry.key = rows.bytes(row, kKey);
    entry.until = until;
    entry.by_table = true;
    held_.hold(id, std::move(entry));
}

Envelope ClaimReader::read_row(const Rows& rows, int row, std::int64_t seq) {
    Envelope envelope;
    envelope.id = read_id(rows.bytes(row, kMessageId));
    envelope.topic = rows.bytes(row, kTopic);
    envelope.key = rows.bytes(row, kKey);
    envelope.type = rows.bytes(row, kType);
    envelope.content_type = rows.bytes(row, kContentType);
    envelope.headers = read_headers(rows.bytes(row, kHeaders), claim_.arena, envelope.flaw);
    envelope.payload = rows.bytes(row, kPayload);
    envelope.occurred_at =
        rows.is_null(row, kOccurred) ? batch_.now : from_server_time(rows.integer(row, kOccurred));
    envelope.seq = seq;
    envelope.order_key = order_key_of(envelope.key, seq);
    envelope.parked = true;  // it has no cursor: what is left simply stays where it is
    if (envelope.topic.empty()) envelope.flaw = kNoTopic;
    check_texts(envelope);
    const std::string_view id = rows.bytes(row, kId);
    const std::optional<Held::Entry> known = any_held_ ? held_.find(id) : std::nullopt;
    const auto attempts = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(rows.integer(row, kAttempts), 0, 2'147'483'647)
    );
    envelope.attempts = std::max(attempts, known ? known->attempts : 0);
    if (known) envelope.refused_at = known->refused_at;
    claim_.places.push_back({rows.bytes(row, kPlace), rows.integer(row, kPart), id});
    return envelope;
}

// By the key alone: what an application calls one thing is in order whatever happens to it.
OrderKey ClaimReader::order_key_of(std::string_view key, std::int64_t seq) const {
    return order_key(destination_.order, {}, key, seq);
}

}  // namespace outrider::table
