#include "config/values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace outrider {
namespace {

struct Unit {
    std::string_view name;
    std::uint64_t size;
};

// Largest first, since values are printed in the largest unit that fits.
constexpr std::array<Unit, 6> kTimes = {
    {{"d", 86'400'000'000},
     {"h", 3'600'000'000},
     {"m", 60'000'000},
     {"s", 1'000'000},
     {"ms", 1'000},
     {"us", 1}}};
constexpr std::array<Unit, 7> kSizes = {
    {{"GiB", 1U << 30U},
     {"MiB", 1U << 20U},
     {"KiB", 1U << 10U},
     {"GB", 1'000'000'000},
     {"MB", 1'000'000},
     {"kB", 1'000},
     {"B", 1}}};
constexpr std::size_t kBinarySizes = 3;

// So that no sum of a few of them overflows.
constexpr double kDurationMax = 100.0 * 365 * 86'400'000'000;

template <class Units>
const Unit* find_unit(const Units& units, std::string_view name) {
    const auto found = std::find_if(units.begin(), units.end(), [&](const Unit& unit) {
        return unit.name == name;
    });
    return found == units.end() ? nullptr : &*found;
}

// Takes the longest run of such characters off the front.
std::string_view take_while(std::string_view& text, std::string_view characters) {
    const std::size_t length = std::min(text.find_first_not_of(characters), text.size());
    const std::string_view taken = text.substr(0, length);
    text.remove_prefix(length);
    return taken;
}

// One "30s" off the front, in microseconds.
std::optional<double> take_time(std::string_view& text) {
    const std::optional<double> number = parse_number(take_while(text, "0123456789."));
    const Unit* unit = find_unit(kTimes, take_while(text, "abcdefghijklmnopqrstuvwxyz"));
    if (!number || unit == nullptr) return std::nullopt;
    return *number * static_cast<double>(unit->size);
}

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
    if (text == "0") return Duration::zero();
    if (text.empty()) return std::nullopt;
    double sum = 0;
    while (!text.empty()) {
        const std::optional<double> part = take_time(text);
        if (!part) return std::nullopt;
        sum += *part;
    }
    if (sum > kDurationMax) return std::nullopt;
    return Duration(std::llround(sum));
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
    const std::optional<std::uint64_t> count = parse_count(take_while(text, "0123456789"));
    if (!count) return std::nullopt;
    if (text.empty()) return count;
    const Unit* unit = find_unit(kSizes, text);
    if (unit == nullptr || *count > UINT64_MAX / unit->size) return std::nullopt;
    return *count * unit->size;
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
    std::uint64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return count;
}

std::optional<double> parse_number(std::string_view text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    if (!std::isfinite(number)) return std::nullopt;
    return number;
}

std::string format_duration(Duration duration) {
    const auto micros = static_cast<std::uint64_t>(std::max(duration, Duration::zero()).count());
    if (micros == 0) return "0s";
    for (const Unit& unit : kTimes) {
        if (micros % unit.size == 0) {
            return std::to_string(micros / unit.size).append(unit.name);
        }
    }
    return "0s";
}

std::string format_bytes(std::uint64_t bytes) {
    for (std::size_t i = 0; i < kBinarySizes && bytes > 0; ++i) {
        if (bytes % kSizes.at(i).size == 0) {
            return std::to_string(bytes / kSizes.at(i).size).append(kSizes.at(i).name);
        }
    }
    return std::to_string(bytes);
}

std::string format_number(double number) {
    std::array<char, 32> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() ? std::string(text.data(), end) : "?";
}

}  // namespace outrider
