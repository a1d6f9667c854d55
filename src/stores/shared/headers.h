#pragma once

#include <memory_resource>
#include <span>
#include <string_view>

#include "core/batch.h"

namespace outrider {

// Headers as they are stored, a JSON object, as views into `arena`. Numbers and booleans become
// their text. `flaw` is set, and points to a constant, if they cannot be read.
[[nodiscard]] std::span<const HeaderView> read_headers(
    std::string_view json,
    std::pmr::memory_resource& arena,
    std::string_view& flaw
);

}  // namespace outrider
