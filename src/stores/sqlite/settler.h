#pragma once

#include <set>
#include <span>

#include "core/decide.h"
#include "core/result.h"
#include "stores/sqlite/claim.h"

namespace outrider::sqlite {

// Writes what became of a batch, inside a write transaction.
class Settler {
public:
    Settler(StoreStatements& statements, std::int64_t id, std::int64_t now_millis)
        : statements_(statements),
          id_(id),
          now_(now_millis) {}

    [[nodiscard]] Result<void> write(
        const Batch& batch,
        const Claim& claim,
        std::span<const Settlement> settlements
    );

private:
    [[nodiscard]] Result<void> write_one(const Envelope& envelope, const Settlement& settlement);
    [[nodiscard]] Result<void> park(const Envelope& envelope, const Settlement& settlement);
    [[nodiscard]] Result<void> bury(const Envelope& envelope, const Settlement& settlement);
    [[nodiscard]] Result<void> unpark(const Envelope& envelope);
    [[nodiscard]] Result<void> refresh_keys();
    [[nodiscard]] Result<void> check_log(const Claim& claim);
    [[nodiscard]] Result<void> move_cursor(const Claim& claim, std::int64_t delivered);

    StoreStatements& statements_;
    const std::int64_t id_;
    const std::int64_t now_;
    std::int64_t position_ = 0;
    std::set<OrderKey> touched_;
};

}  // namespace outrider::sqlite
