#include "stores/sqlite/settler.h"

#include "core/assert.h"
#include "core/clock.h"
#include "stores/sqlite/store.h"

namespace outrider::sqlite {
namespace {

Result<void> run(Statement& statement) {
    const Result<std::int64_t> done = statement.run();
    if (!done) return done.error();
    return {};
}

std::optional<std::int64_t> maybe_millis(const std::optional<WallTime>& time) {
    return time ? std::optional(to_millis(*time)) : std::nullopt;
}

}  // namespace

Result<void> Settler::write(
    const Batch& batch,
    const Claim& claim,
    std::span<const Settlement> settlements
) {
    OUTRIDER_ASSERT(batch.envelopes.size() == settlements.size());
    if (Result<void> same = check_log(claim); !same) return same;
    position_ = claim.scanned;
    std::int64_t delivered = 0;
    bool stopped = false;
    for (std::size_t i = 0; i < settlements.size(); ++i) {
        const Envelope& envelope = batch.envelopes[i];
        const Settlement& settlement = settlements[i];
        if (!envelope.parked && settlement.fate == Fate::left && !stopped) {
            stopped = true;
            position_ = envelope.seq - 1;
        }
        OUTRIDER_ASSERT(envelope.parked || !stopped || settlement.fate == Fate::left);
        if (settlement.fate == Fate::done) ++delivered;
        if (Result<void> written = write_one(envelope, settlement); !written) return written;
    }
    if (Result<void> refreshed = refresh_keys(); !refreshed) return refreshed;
    return move_cursor(claim, delivered);
}

Result<void> Settler::write_one(const Envelope& envelope, const Settlement& settlement) {
    switch (settlement.fate) {
        case Fate::left:
            return {};
        case Fate::done:
            return envelope.parked ? unpark(envelope) : Result<void>{};
        case Fate::again:
            return park(envelope, settlement);
        case Fate::dead:
            return bury(envelope, settlement);
    }
    return {};
}

Result<void> Settler::park(const Envelope& envelope, const Settlement& settlement) {
    Statement& statement =
        envelope.parked ? statements_.settle_park_again : statements_.settle_park;
    if (envelope.parked) touched_.insert(envelope.order_key);
    touched_.insert(settlement.park_key);
    statement.bind(1, id_).bind(2, envelope.seq).bind(3, settlement.park_key);
    statement.bind(4, std::int64_t{settlement.attempts})
        .bind(5, maybe_millis(settlement.refused_at));
    statement.bind(6, to_millis(settlement.due_at)).bind(7, settlement.reason);
    return run(statement);
}

Result<void> Settler::bury(const Envelope& envelope, const Settlement& settlement) {
    Statement& statement =
        envelope.parked ? statements_.settle_bury_parked : statements_.settle_bury;
    touched_.insert(settlement.park_key);
    statement.bind(1, id_).bind(2, envelope.seq).bind(3, settlement.park_key);
    statement.bind(4, std::int64_t{settlement.holds_key})
        .bind(5, std::int64_t{settlement.attempts});
    statement.bind(6, settlement.reason).bind(7, now_);
    if (Result<void> buried = run(statement); !buried) return buried;
    return envelope.parked ? unpark(envelope) : Result<void>{};
}

Result<void> Settler::unpark(const Envelope& envelope) {
    touched_.insert(envelope.order_key);
    return run(statements_.settle_unpark.bind(1, id_).bind(2, envelope.seq));
}

Result<void> Settler::refresh_keys() {
    for (const OrderKey key : touched_) {
        if (Result<void> done = run(statements_.refresh_key.bind(1, id_).bind(2, key)); !done) {
            return done;
        }
        if (Result<void> done = run(statements_.drop_key.bind(1, id_).bind(2, key)); !done) {
            return done;
        }
    }
    return {};
}

// A restored database may have the turn of the claim, and other messages.
Result<void> Settler::check_log(const Claim& claim) {
    if (claim.scanned_id.empty()) return {};
    const Result<bool> known = is_known(statements_.claim_known, claim.scanned, claim.scanned_id);
    if (!known) return known.error();
    if (*known) return {};
    return Error{Remedy::yield, "the log has lost what was read from it: was it restored?"};
}

Result<void> Settler::move_cursor(const Claim& claim, std::int64_t delivered) {
    Statement& cursor = statements_.settle_cursor;
    cursor.bind(1, id_).bind(2, claim.turn).bind(3, position_).bind(4, delivered).bind(5, now_);
    const Result<std::int64_t> moved = cursor.run();
    if (!moved) return moved.error();
    if (*moved == 1) return {};
    return Error{Remedy::yield, "the destination was moved or forgotten by the operator meanwhile"};
}

}  // namespace outrider::sqlite
