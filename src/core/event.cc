#include "outrider/event.h"

#include <charconv>

namespace outrider {

EventType event_type(std::string_view type) {
    const std::size_t at = type.rfind(".v");
    if (at == std::string_view::npos) return {type, 1};
    const std::string_view digits = type.substr(at + 2);
    std::uint32_t version = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), version);
    const bool whole = error == std::errc() && end == digits.data() + digits.size();
    return whole && version > 0 ? EventType{type.substr(0, at), version} : EventType{type, 1};
}

}  // namespace outrider
