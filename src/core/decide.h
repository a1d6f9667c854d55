#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "outrider/destination.h"
#include "outrider/settlement.h"

#include "core/batch.h"
#include "core/dice.h"
#include "core/verdict.h"

namespace outrider {

// The wait before the try that follows refusal number `attempts` (1 is the first).
[[nodiscard]] Duration retry_delay(const Retry& retry, std::uint32_t attempts, Dice& dice);

// The key that a parked message holds back: its own order key if failures block, else nobody's.
[[nodiscard]] OrderKey park_key(const Envelope& envelope, const Destination& destination);

// What an answer means for its message. Pure, but for the dice. An unanswered message is left: the
// caller parks it with wait_until() where the cursor has to pass it.
[[nodiscard]] Settlement decide(
    const Envelope& envelope,
    const Answer& answer,
    const Destination& destination,
    WallTime now,
    Dice& dice
);

// Parks a message that nobody refused: it is delayed, waits behind another, or must be passed by
// the cursor. Nobody is charged, and it keeps its place in its key even where failures are skipped.
[[nodiscard]] Settlement wait_until(const Envelope& envelope, WallTime due_at);

// The text cut to kReasonBytesMax at a character's edge, control characters and broken UTF-8
// replaced.
[[nodiscard]] std::string clean_reason(std::string_view text);

}  // namespace outrider
