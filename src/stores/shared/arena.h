#pragma once

#include <cstring>
#include <memory_resource>
#include <string_view>

namespace outrider {

// A copy of the text that lives as long as the arena.
[[nodiscard]] inline std::string_view keep(
    std::pmr::memory_resource& arena,
    std::string_view text
) {
    if (text.empty()) return {};
    char* copy = static_cast<char*>(arena.allocate(text.size(), 1));
    std::memcpy(copy, text.data(), text.size());
    return {copy, text.size()};
}

}  // namespace outrider
