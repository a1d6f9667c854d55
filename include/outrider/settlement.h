#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "outrider/envelope.h"

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

}  // namespace outrider
