#pragma once

#include <string>

#include "config/node.h"

namespace outrider {

// Reads a TOML file into `root`. False: `problem` says why not, with line and column where there
// is one. Files above 1 MiB are refused.
[[nodiscard]] bool read_toml(const std::string& path, Node& root, Problem& problem);

}  // namespace outrider
