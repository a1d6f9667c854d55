#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace outrider {

// How much a finding matters.
enum class Gravity : std::uint8_t {
    hint,     // good to know
    warning,  // it will hurt one day
    fault,    // it hurts now, or loses messages
};

[[nodiscard]] std::string_view to_string(Gravity gravity);

// One thing that `outrider doctor` noticed: what it is, and what to do about it. The code is
// stable, for programs.
struct Finding {
    Gravity gravity = Gravity::hint;
    std::string code;
    std::string what;
    std::string advice;
};

}  // namespace outrider
