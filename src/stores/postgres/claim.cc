#include "stores/postgres/claim.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/assert.h"
#include "core/hash.h"
#include "core/text.h"
#include "stores/postgres/log_id.h"
#include "stores/shared/headers.h"

namespace outrider::postgres {
namespace {

// Columns of claim_log.sql.
enum LogColumn : int {
    kPlace,
    kSeq,
    kMessage,  // id, topic, key, type, payload, content_type, headers, occurred_at
    kMessageHeaders = kMessage + 6,
    kDeliverAfter = kMessage + 8,
    kOrderKey,
    kBlocked,
    kOver,
    // In the row of a window.
    kState = kMessage + 1,
    kNow = kMessage + 7,
    kNextDue = kDeliverAfter,
};

// A place is a segment and a lane, see claim_log.sql.
constexpr std::int64_t kLanesOfPlace = 65'536;

// Parts of a window's state.
enum StatePart : std::size_t {
    kLanes,
    kDelivered,
    kTurn,
    kFirst,
    kNewest,
    kPassed,
    kPassedFloor,
    kLate,
    kSnapshot,
    kFloor,
    kFloorBy,
    kUpper,
    kNextFloor,
    kKnownFloor,
    kLast,
    kLow,
    kTop,
    kRows,
    kNeeded,
    kOpen,
    kWork,
    kLags,
    kPaused,
    kHeld,
    kStateParts,
};

// Parts of what claim_again.sql says of its window.
enum AgainPart : std::size_t {
    kAgainSnapshot,
    kAgainDrawn,
    kAgainNewest,
    kAgainParts,
};

// Columns of claim_due.sql.
enum DueColumn : int {
    kDueKey,
    kDueLane,
    kDueSeq,
    kDueMessage,
    kDueAt = kDueMessage + 8,
    kAttempts,
    kRefusedAt,
};

// A window without rows is not worth a settle, and the next one starts where it did; but what lies
// above that, its floor or the one of a transaction that has ended since, is looked at again every
// time, so not for ever.
constexpr std::int64_t kEmptyLagMax = 128;

std::optional<WallTime> maybe_time(const Rows& rows, int row, int column) {
    if (rows.is_null(row, column)) return std::nullopt;
    return from_server_time(rows.integer(row, column));
}

MessageId message_id(std::string_view raw) {
    std::array<std::uint8_t, 16> id{};
    OUTRIDER_ASSERT(raw.size() == id.size());
    std::copy(raw.begin(), raw.end(), id.begin());
    return MessageId(id);
}

// Whoever writes with an INSERT of its own is not told what nobody could deliver.
std::string_view flaw_of(const Envelope& envelope) {
    static_assert(kTopicBytesMax == 255 && kKeyBytesMax == 1024, "as the texts say");
    static_assert(kPayloadBytesCeiling == 67'108'864, "as claim_payload.sql says");
    if (envelope.topic.empty()) return "the message has no topic";
    if (envelope.topic.size() > kTopicBytesMax) return "the topic has more than 255 bytes";
    if (envelope.key.size() > kKeyBytesMax) return "the key has more than 1024 bytes";
    if (envelope.payload.size() > kPayloadBytesCeiling) return "the payload has more than 64 MiB";
    return {};
}

}  // namespace

std::string_view jsonb_text(std::string_view bytes) {
    return bytes.empty() ? bytes : bytes.substr(1);
}

WallTime from_server_time(std::int64_t micros) {
    constexpr std::chrono::sys_days kEpoch = std::chrono::year(2000) / 1 / 1;
    // Infinity and the far ends of the calendar stay within the years 1 to 9999.
    constexpr std::int64_t kFirst = -63'082'281'600'000'000;
    constexpr std::int64_t kLastMoment = 252'455'615'999'999'999;
    return WallTime(kEpoch) + Duration(std::clamp(micros, kFirst, kLastMoment));
}

Envelope ClaimReader::read_common(const Rows& rows, int row, int first) {
    Envelope envelope;
    if (!rows.is_null(row, first)) envelope.id = message_id(rows.bytes(row, first));
    envelope.topic = rows.bytes(row, first + 1);
    envelope.key = rows.bytes(row, first + 2);
    envelope.type = rows.bytes(row, first + 3);
    envelope.payload = rows.bytes(row, first + 4);
    envelope.content_type = rows.bytes(row, first + 5);
    envelope.headers =
        read_headers(jsonb_text(rows.bytes(row, first + 6)), claim_.arena, envelope.flaw);
    if (envelope.flaw.empty()) envelope.flaw = flaw_of(envelope);
    envelope.occurred_at = from_server_time(rows.integer(row, first + 7));
    return envelope;
}

void ClaimReader::read_parked(const Rows& rows) {
    const int count = rows.count();
    std::int64_t keys = 0;
    for (int row = 0; row < count;) {
        // As many keys as were asked for: there may be more.
        if (++keys == limits_.parked) batch_.full = true;
        const OrderKey key = rows.integer(row, kDueKey);
        int end = row;
        while (end < count && rows.integer(end, kDueKey) == key) ++end;
        // A message that was refused before goes alone: likely it is refused again.
        const bool alone = rows.integer(row, kAttempts) > 0;
        int taken = 0;
        for (int i = row; i < end && (!alone || taken == 0); ++i, ++taken) {
            const bool over = rows.is_null(i, kDueMessage + 4);
            const bool room = static_cast<std::int64_t>(batch_.envelopes.size()) < limits_.parked;
            if (!room || (over && !batch_.envelopes.empty())) {
                batch_.full = true;
                return;
            }
            Envelope envelope = read_common(rows, i, kDueMessage);
            envelope.seq = rows.integer(i, kDueSeq);
            envelope.lane = static_cast<std::uint32_t>(rows.integer(i, kDueLane));
            envelope.order_key = key;
            envelope.parked = true;
            envelope.attempts = static_cast<std::uint32_t>(rows.integer(i, kAttempts));
            envelope.refused_at = maybe_time(rows, i, kRefusedAt);
            const WallTime due_at = from_server_time(rows.integer(i, kDueAt));
            if (due_at > batch_.now) envelope.deliver_after = due_at;
            batch_.envelopes.push_back(envelope);
            claim_.places.push_back(0);
        }
        const bool statement_cut = end == count && count == limits_.parked_rows;
        const bool chain_cut = statement_cut || taken == limits_.parked;
        if (chain_cut) batch_.full = true;
        if (taken == end - row && !chain_cut) whole_chains_.insert(key);
        row = end;
    }
}

bool Window::moves() const {
    return open || lags || cut || rows > 0 || next_floor - low > kEmptyLagMax;
}

void ClaimReader::read_state(const Rows& rows) {
    for (int row = 0; row < rows.count(); ++row) {
        if (rows.is_null(row, kSeq)) read_window(rows, row);
    }
}

void ClaimReader::read_again(
    const Rows& rows,
    const KnownPlace& place,
    std::span<const std::int64_t> locked
) {
    const auto is_same = [](const LaneCount& count, std::int64_t lane) {
        return count.lane == lane;
    };
    std::vector<std::int64_t> lanes(locked.begin(), locked.end());
    std::sort(lanes.begin(), lanes.end());
    const auto& known = place.lanes;
    if (!std::equal(known.begin(), known.end(), lanes.begin(), lanes.end(), is_same)) return;
    const bool told = rows.count() > 0 && rows.is_null(0, kSeq) && !rows.is_null(0, kState);
    if (!told) return;
    const std::vector<std::string> state = split(rows.bytes(0, kState), '|');
    OUTRIDER_ASSERT(state.size() == kAgainParts);
    const std::int64_t drawn = std::strtoll(state[kAgainDrawn].c_str(), nullptr, 10);
    claim_.newest = std::strtoll(state[kAgainNewest].c_str(), nullptr, 10);
    Window window;
    window.origin = place.origin;
    window.lanes = place.lanes;
    window.passed = place.passed;
    window.snapshot = state[kAgainSnapshot];
    window.floor = place.next_floor;
    window.floor_by = place.next_floor_by;
    window.upper = drawn;
    window.next_floor = drawn;
    window.known_floor = place.next_floor;
    window.low = reach_of(place.passed).low;
    window.top = window.low + limits_.numbers;
    window.limit = limits_.messages;
    window.work = true;
    for (const std::int64_t lane : lanes) lanes_[lane] = claim_.windows.size();
    batch_.now = from_server_time(rows.integer(0, kNow));
    claim_.windows.push_back(std::move(window));
}

void ClaimReader::read_log(const Rows& rows) {
    for (int row = 0; row < rows.count(); ++row) {
        if (!rows.is_null(row, kSeq)) read_message(rows, row);
    }
    for (Window& window : claim_.windows) close(window);
}

void ClaimReader::read_window(const Rows& rows, int row) {
    const std::vector<std::string> state = split(rows.bytes(row, kState), '|');
    OUTRIDER_ASSERT(state.size() == kStateParts);
    const auto number = [&](StatePart part) {
        return std::strtoll(state[part].c_str(), nullptr, 10);
    };
    const auto is = [&](StatePart part) { return state[part] == "t"; };
    Window window;
    const std::vector<std::int64_t> lanes = read_array(state[kLanes]);
    const std::vector<std::int64_t> delivered = read_array(state[kDelivered]);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        lanes_[lanes[i]] = claim_.windows.size();
        window.lanes.push_back({static_cast<std::int16_t>(lanes[i]), delivered.at(i)});
    }
    window.origin = {number(kTurn), number(kFirst)};
    claim_.newest = number(kNewest);
    window.passed = {state[kPassed], number(kPassedFloor), read_array(state[kLate])};
    window.snapshot = state[kSnapshot];
    window.floor = number(kFloor);
    window.floor_by = static_cast<std::uint64_t>(number(kFloorBy));
    window.upper = number(kUpper);
    window.next_floor = number(kNextFloor);
    window.known_floor = number(kKnownFloor);
    window.last = number(kLast);
    window.low = number(kLow);
    window.top = number(kTop);
    window.limit = number(kRows);
    window.open = is(kOpen);
    window.work = is(kWork);
    window.lags = is(kLags);
    for (const std::int64_t segment : read_array(state[kNeeded])) {
        claim_.segments.insert(static_cast<int>(segment));
    }
    claim_.paused = is(kPaused);
    claim_.held = is(kHeld);
    batch_.now = from_server_time(rows.integer(row, kNow));
    batch_.next_due = maybe_time(rows, row, kNextDue);
    claim_.windows.push_back(std::move(window));
}

// A window is finished only if all there is of it was looked at, and taken.
void ClaimReader::close(Window& window) {
    OUTRIDER_ASSERT(window.rows <= window.limit);
    if (!window.cut && window.work && window.rows < window.limit) {
        window.cut = window.top < window.upper;
        window.read_to = window.top;
    }
    if (window.rows == window.limit) window.cut = true;
    if (window.cut) batch_.full = true;
}

void ClaimReader::read_message(const Rows& rows, int row) {
    const std::int64_t place = rows.integer(row, kPlace);
    const auto found = lanes_.find(place % kLanesOfPlace);
    OUTRIDER_ASSERT(found != lanes_.end());
    Window& window = claim_.windows[found->second];
    if (window.cut) return;
    const auto taken = static_cast<std::int64_t>(batch_.envelopes.size());
    const bool over = rows.boolean(row, kOver);
    claim_.large_row = claim_.large_row || over;
    if ((over && window.rows > 0) || taken >= limits_.messages) {
        window.cut = true;
        return;
    }
    ++window.rows;
    const std::int64_t seq = rows.integer(row, kSeq);
    window.read_to = seq;
    if (!filter_.takes(rows.bytes(row, kMessage + 1))) return;
    Envelope envelope = read_common(rows, row, kMessage);
    const std::size_t bytes = envelope.payload.size() + envelope.type.size() +
                              envelope.content_type.size() +
                              rows.bytes(row, kMessageHeaders).size();
    if (static_cast<std::int64_t>(bytes) > limits_.bytes_per_row) claim_.large_row = true;
    envelope.seq = seq;
    if (rows.is_null(row, kMessage)) envelope.id = id_in_log(origin_, seq, envelope.occurred_at);
    envelope.lane = static_cast<std::uint32_t>(found->first);
    envelope.order_key = order_key_of(rows, row, seq);
    envelope.blocked = rows.boolean(row, kBlocked) && envelope.order_key != own_order_key(seq) &&
                       !whole_chains_.contains(envelope.order_key);
    const std::optional<WallTime> deliver_after = maybe_time(rows, row, kDeliverAfter);
    if (deliver_after && *deliver_after > batch_.now) envelope.deliver_after = deliver_after;
    batch_.envelopes.push_back(envelope);
    claim_.places.push_back(static_cast<int>(place / kLanesOfPlace));
}

OrderKey ClaimReader::order_key_of(const Rows& rows, int row, std::int64_t seq) const {
    if (order_ == Order::global) return 0;
    if (order_ == Order::none || rows.is_null(row, kOrderKey)) return own_order_key(seq);
    return rows.integer(row, kOrderKey);
}

}  // namespace outrider::postgres
