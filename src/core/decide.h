#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "outrider/destination.h"

#include "core/batch.h"
#include "core/dice.h"
#include "core/verdict.h"

namespace outrider {

// What becomes of a message.
enum class Fate : std::uint8_t {
    left,   // nothing is known of it: it stays where it was, and will be claimed again. The zero
            // value
    done,   // delivered
    again,  // parked until `due_at`
    dead,   // given up on, kept as a dead letter
};

[[nodiscard]] std::string_view to_string(Fate fate);

// What the store must write for one envelope.
struct Settlement {
    Fate fate = Fate::left;
    std::uint32_t attempts = 0;          // refusals so far, this one included
    std::optional<WallTime> refused_at;  // the first of them
    WallTime due_at;                     // fate again: not before this moment
    OrderKey park_key = 0;               // fate again or dead: whom it holds back, see park_key()
    bool holds_key = false;              // fate dead: its key waits for the operator
    std::string reason;                  // for a person; at most kReasonBytesMax
};

inline constexpr std::size_t kReasonBytesMax = 2048;

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
