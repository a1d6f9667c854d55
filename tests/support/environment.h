#pragma once

#include <cstdint>
#include <cstdlib>

namespace outrider {

// A number from the environment, so that long runs and short ones use the same tests.
[[nodiscard]] inline std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace outrider
