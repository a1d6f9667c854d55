#pragma once

#include <string>

#include "config/config.h"

namespace outrider {

// The whole configuration, defaults included and secrets masked, as a TOML file that can be read
// again.
[[nodiscard]] std::string to_toml(const Config& config);

// The same as one JSON object with the names of the file.
[[nodiscard]] std::string to_json(const Config& config);

}  // namespace outrider
