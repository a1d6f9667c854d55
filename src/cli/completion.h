#pragma once

#include <string>
#include <string_view>

#include "cli/arguments.h"

namespace outrider::cli {

// The completion script of a shell, bash, zsh or fish, for this tree of words. Throws Stop for any
// other shell.
[[nodiscard]] std::string completion_script(std::string_view shell, const CommandWord& root);

}  // namespace outrider::cli
