#pragma once

#include <span>

#include "cli/arguments.h"

namespace outrider::cli {

// Reads the command line, `arguments[0]` being the program. The verb it returns does the work when
// called; for --help it prints help, and for a mistake it throws Stop (usage) with the nearest
// known word.
[[nodiscard]] Verb parse_command_line(std::span<char*> arguments);

// All words and flags, as a tree. The root is the program itself.
[[nodiscard]] CommandWord describe_command_line();

}  // namespace outrider::cli
