#include "stores/sqlite/claim.h"

#include <algorithm>
#include <vector>

#include "core/clock.h"
#include "core/hash.h"
#include "core/text.h"
#include "stores/shared/arena.h"
#include "stores/shared/headers.h"
#include "stores/shared/texts.h"
#include "stores/sqlite/store.h"

namespace outrider::sqlite {
namespace {

// Columns that claim_chain.sql and claim_log.sql have in common, and those of their own.
enum Column : int {
    kSeq,
    kId,
    kTopic,
    kKey,
    kType,
    kPayload,
    kContentType,
    kHeaders,
    kOccurredAt,
    kNotBefore,  // due_at of a parked message, deliver_after of one in the log
    kAttempts,
    kRefusedAt,
};

// Rows of other topics cost no memory, so a claim may look at more of them than it may take.
constexpr std::size_t kScanFactor = 10;

// So many passed rows are worth a commit of their own.
constexpr std::int64_t kPassedWorthSettling = 1000;

std::optional<WallTime> maybe_time(const Statement& row, int column) {
    const std::optional<std::int64_t> millis = row.maybe_integer(column);
    return millis ? std::optional(from_millis(*millis)) : std::nullopt;
}

}  // namespace

Result<bool> is_known(Statement& known, std::int64_t seq, std::string_view id) {
    const ResetLater reset(known);
    return known.bind(1, seq).bind(2, id).step();
}

Result<void> ClaimReader::read(
    const BatchLimits& limits,
    const Passed& passed,
    ParkedShare& share,
    Batch& batch,
    Claim& claim
) {
    batch_ = &batch;
    claim_ = &claim;
    bytes_left_ = limits.bytes;
    const Result<bool> active = read_cursor();
    if (!active) return active.error();
    if (!*active) return {};
    if (has_held_keys_) {
        if (Result<void> done = read_parked(share.of(limits.messages)); !done) return done;
        if (Result<void> done = read_next_due(); !done) return done;
    }
    if (Result<void> done = skip(passed); !done) return done;
    return read_log(limits.messages);
}

Result<bool> ClaimReader::read_cursor() {
    Statement& cursor = statements_.claim_cursor;
    const ResetLater reset(cursor);
    const Result<bool> row = cursor.bind(1, id_).step();
    if (!row) return row.error();
    if (!*row) return Error{Remedy::yield, "the destination was forgotten by the operator"};
    claim_->position = cursor.integer(0);
    claim_->turn = cursor.integer(1);
    claim_->scanned = claim_->position;
    batch_->paused = cursor.integer(2) != 0;
    has_held_keys_ = cursor.integer(3) != 0;
    claim_->topics = cursor.text(4);
    return !batch_->paused;
}

Result<void> ClaimReader::skip(const Passed& passed) {
    if (claim_->position < passed.from || claim_->position >= passed.seq) return {};
    const Result<bool> known = is_known(statements_.claim_known, passed.seq, passed.id);
    if (!known) return known.error();
    if (!*known) return {};
    claim_->scanned = passed.seq;
    claim_->scanned_id = passed.id;
    return {};
}

Result<void> ClaimReader::read_parked(std::size_t limit) {
    const std::size_t asked = std::max<std::size_t>(limit, 1);
    std::vector<OrderKey> keys;
    {
        Statement& due = statements_.claim_due;
        const ResetLater reset(due);
        due.bind(1, id_).bind(2, to_millis(batch_->now)).bind(3, static_cast<std::int64_t>(asked));
        for (;;) {
            const Result<bool> row = due.step();
            if (!row) return row.error();
            if (!*row) break;
            keys.push_back(due.integer(0));
        }
    }
    // As many keys as were asked for: there may be more.
    batch_->full = keys.size() == asked;
    for (const OrderKey key : keys) {
        if (batch_->envelopes.size() >= limit) {
            batch_->full = true;
            break;
        }
        if (Result<void> done = read_chain(key, limit); !done) return done;
    }
    return {};
}

Result<void> ClaimReader::read_chain(OrderKey key, std::size_t limit) {
    Statement& chain = statements_.claim_chain;
    const ResetLater reset(chain);
    chain.bind(1, id_).bind(2, key).bind(3, static_cast<std::int64_t>(limit + 1));
    bool alone = false;
    for (std::size_t taken = 0;; ++taken) {
        const Result<bool> row = chain.step();
        if (!row) return row.error();
        if (!*row) break;
        // A message that was refused before goes alone: likely it is refused again, and the rest
        // was read for nothing.
        if (alone) return {};
        Envelope envelope = read_message(chain);
        envelope.parked = true;
        envelope.order_key = key;
        envelope.attempts = static_cast<std::uint32_t>(chain.integer(kAttempts));
        envelope.refused_at = maybe_time(chain, kRefusedAt);
        if (!add(envelope, limit)) return {};
        alone = taken == 0 && envelope.attempts > 0;
    }
    whole_chains_.insert(key);
    return {};
}

Result<void> ClaimReader::read_next_due() {
    Statement& next = statements_.claim_next_due;
    const ResetLater reset(next);
    const Result<bool> row = next.bind(1, id_).bind(2, to_millis(batch_->now)).step();
    if (!row) return row.error();
    batch_->next_due = maybe_time(next, 0);
    return {};
}

Result<void> ClaimReader::read_log(std::size_t limit) {
    Statement& log = statements_.claim_log;
    const ResetLater reset(log);
    const auto scan_max = static_cast<std::int64_t>(limit * kScanFactor);
    log.bind(1, claim_->scanned).bind(2, scan_max);
    for (std::int64_t rows = 0;; ++rows) {
        const Result<bool> row = log.step();
        if (!row) return row.error();
        if (!*row) {
            batch_->full = batch_->full || rows == scan_max;
            break;
        }
        if (filter_.takes(log.text(kTopic))) {
            Envelope envelope = read_message(log);
            envelope.order_key = order_key(order_, envelope.topic, envelope.key, envelope.seq);
            const Result<bool> blocked = is_blocked(envelope.order_key);
            if (!blocked) return blocked.error();
            envelope.blocked = *blocked;
            if (!add(envelope, limit)) break;
        }
        claim_->scanned = log.integer(kSeq);
        claim_->scanned_id = log.text(kId);
    }
    batch_->passed =
        batch_->envelopes.empty() && claim_->scanned - claim_->position >= kPassedWorthSettling;
    return {};
}

Result<bool> ClaimReader::is_blocked(OrderKey key) {
    if (!has_held_keys_ || whole_chains_.contains(key)) return false;
    Statement& blocked = statements_.claim_blocked;
    const ResetLater reset(blocked);
    return blocked.bind(1, id_).bind(2, key).step();
}

Envelope ClaimReader::read_message(const Statement& row) {
    std::pmr::memory_resource& arena = claim_->arena;
    Envelope envelope;
    envelope.seq = row.integer(kSeq);
    // The table's own check lets nothing else in; a nil id would show that somebody has removed it.
    envelope.id = MessageId::parse(row.text(kId)).value_or(MessageId{});
    envelope.topic = keep(arena, row.text(kTopic));
    envelope.key = keep(arena, row.text(kKey));
    envelope.type = keep(arena, row.text(kType));
    envelope.payload = keep(arena, row.bytes(kPayload));
    envelope.content_type = keep(arena, row.text(kContentType));
    envelope.headers = read_headers(row.text(kHeaders), arena, envelope.flaw);
    envelope.occurred_at = from_millis(row.integer(kOccurredAt));
    const std::optional<WallTime> not_before = maybe_time(row, kNotBefore);
    if (not_before && *not_before > batch_->now) envelope.deliver_after = not_before;
    check_texts(envelope);
    if (envelope.id.is_nil()) envelope.flaw = "the message has no valid id";
    return envelope;
}

bool ClaimReader::add(const Envelope& envelope, std::size_t limit) {
    const std::size_t size = weight(envelope);
    const bool too_many = batch_->envelopes.size() >= limit;
    const bool too_large = size > bytes_left_ && !batch_->envelopes.empty();
    if (too_many || too_large) {
        batch_->full = true;
        return false;
    }
    bytes_left_ -= std::min(size, bytes_left_);
    batch_->envelopes.push_back(envelope);
    return true;
}

}  // namespace outrider::sqlite
