#include "stores/shared/headers.h"

#include <cstring>

#include <nlohmann/json.hpp>

#include "stores/shared/arena.h"

namespace outrider {
namespace {

constexpr std::string_view kFlaw =
    "the headers are not a JSON object of at most 64 texts, each of at most 8192 bytes and without "
    "control characters";

bool is_clean(std::string_view text) {
    return text.size() <= kHeaderBytesMax && std::none_of(text.begin(), text.end(), [](char c) {
               return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
           });
}

}  // namespace

std::span<const HeaderView> read_headers(
    std::string_view json,
    std::pmr::memory_resource& arena,
    std::string_view& flaw
) {
    if (json.empty()) return {};
    const auto parsed = nlohmann::json::parse(json, nullptr, false);
    if (!parsed.is_object() || parsed.size() > kHeadersMax) {
        flaw = kFlaw;
        return {};
    }
    auto* views = static_cast<HeaderView*>(
        arena.allocate(parsed.size() * sizeof(HeaderView), alignof(HeaderView))
    );
    std::size_t count = 0;
    for (const auto& [name, value] : parsed.items()) {
        if (value.is_null()) continue;  // no value, so no header
        const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
        if (value.is_structured() || name.empty() || !is_clean(name) || !is_clean(text)) {
            flaw = kFlaw;
            return {};
        }
        new (views + count++) HeaderView{keep(arena, name), keep(arena, text)};
    }
    return {views, count};
}

}  // namespace outrider
