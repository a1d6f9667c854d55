#pragma once

#include <span>

#include "core/clock.h"
#include "core/decide.h"
#include "core/dice.h"
#include "stores/table/claim.h"
#include "stores/table/wording.h"

namespace outrider::table {

// Keeps among what is held whatever a settled batch leaves to wait. One thread at a time.
class Memory {
public:
    Memory(const Wording& wording, const Destination& destination, Held& held)
        : wording_(wording),
          destination_(destination),
          held_(held) {}

    // `settlements[i]` is for `batch.envelopes[i]`. `written`: the table says of the refused rows
    // what it has columns for; else all of it is remembered here.
    void settled(
        const Batch& batch,
        const Claim& claim,
        std::span<const Settlement> settlements,
        bool written
    );

    // These were delivered, and the table does not take the mark: they are delivered again, ever
    // more seldom, and hold back their keys where failures block. No attempt is charged.
    void unmarked(const Batch& batch, const Claim& claim, std::span<const std::size_t> envelopes);

private:
    void refused(
        const Envelope& envelope,
        std::string_view id,
        const Settlement& settlement,
        Duration delay,
        bool by_table
    );

    const Wording& wording_;
    const Destination& destination_;
    Held& held_;
    SystemClock clock_;
    SeededDice dice_{random_seed()};
};

}  // namespace outrider::table
