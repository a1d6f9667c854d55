#pragma once

#include <string_view>

#include "config/config.h"

namespace outrider::cli {

// Where [store.table] is: its first key by name.
[[nodiscard]] inline Origin table_origin(const Config& config) {
    constexpr std::string_view kPrefix = "store.table.";
    const auto first = config.origins.lower_bound(kPrefix);
    const bool is_there = first != config.origins.end() && first->first.starts_with(kPrefix);
    return is_there ? first->second : origin_of(config, {"store.layout", "store.url"});
}

}  // namespace outrider::cli
