#pragma once

#include <optional>
#include <string>

#include "outrider/time.h"

namespace outrider::cli {

// "2026-11-15T12:34:56.789Z", with an offset such as +01:00 instead of Z, or "+5m" or "-5m": that
// long after or before `now`. Nothing, if the text is anything else.
[[nodiscard]] std::optional<WallTime> parse_moment(const std::string& text, WallTime now);

}  // namespace outrider::cli
