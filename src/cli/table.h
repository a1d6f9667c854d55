#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace outrider::cli {

using Row = std::vector<std::string>;

// Columns as wide as they need to be, two spaces between them, no space at the end of a line. The
// head is bold on a terminal, unless NO_COLOR is set.
[[nodiscard]] std::string format_table(const Row& head, const std::vector<Row>& rows);

// "a, b, c"
[[nodiscard]] std::string joined(const std::vector<std::string>& parts);

// The text without control characters: what a message says must not steer a terminal.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace outrider::cli
