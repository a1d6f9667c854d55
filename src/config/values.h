#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "outrider/time.h"

namespace outrider {

// How values are written in files, variables and flags. Each parser gives nothing for a text that
// is anything else.

// "250ms", "30s", "1h30m", "1.5s", "7d"; units us, ms, s, m, h, d; "0" needs none. Up to 100 years.
[[nodiscard]] std::optional<Duration> parse_duration(std::string_view text);

// "8MiB", "64KiB", "1GiB", "10MB", "512"; units B, KiB, MiB, GiB, kB, MB, GB.
[[nodiscard]] std::optional<std::uint64_t> parse_bytes(std::string_view text);

// Digits only.
[[nodiscard]] std::optional<std::uint64_t> parse_count(std::string_view text);

// "0.2"
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

// In the largest unit that needs no fraction.
[[nodiscard]] std::string format_duration(Duration duration);
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);
[[nodiscard]] std::string format_number(double number);

}  // namespace outrider
