#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "outrider/table.h"

namespace outrider::table {

// The schema of this name, if there is one.
[[nodiscard]] std::optional<TableOptions> preset(std::string_view name);

[[nodiscard]] std::vector<std::string> preset_names();

}  // namespace outrider::table
