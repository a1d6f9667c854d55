#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "outrider/time.h"

namespace outrider {

// What a broker said about one message.
enum class Verdict : std::uint8_t {
    unanswered,    // the link broke or time ran out: it may or may not be there. The zero value, so
                   // that a driver that forgets an answer causes a repeat, never a loss
    acknowledged,  // the broker holds it, as durably as that driver's README says
    refused,  // not now, perhaps later; also what an operator can mend without touching the message
    unacceptable,  // never, because of what the message itself is: too large, malformed
};

[[nodiscard]] std::string_view to_string(Verdict verdict);

struct Answer {
    Verdict verdict = Verdict::unanswered;
    std::string reason;  // for a person; empty when acknowledged

    // refused: the broker itself asked to be left alone with this message for so long. It stretches
    // the wait of the retry rules, never beyond their `delay_max`, and never shortens it.
    std::optional<Duration> retry_after;
};

}  // namespace outrider
