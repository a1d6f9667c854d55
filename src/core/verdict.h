#pragma once

#include <cstdint>
#include <string>
#include <string_view>

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
};

}  // namespace outrider
