#pragma once

#include <string>

#include "config/config.h"

namespace outrider {

// The whole configuration, defaults included and secrets masked, as a TOML file that can be read
// again.
[[nodiscard]] std::string to_toml(const Config& config);

// The same as one JSON object with the names of the file.
[[nodiscard]] std::string to_json(const Config& config);

// Every key there is, whatever is configured: with its default, or an example where it has none,
// and above it what it means and what it takes. A TOML file in which each of them is commented out.
[[nodiscard]] std::string reference_toml();

// The same as a list of {"key", "default", "values", "meaning"}; without a default null. The keys
// of
// [[destination]] begin with "destination.".
[[nodiscard]] std::string reference_json();

}  // namespace outrider
