#include "cli/times.h"

#include <ctime>
#include <string_view>

#include "config/values.h"

namespace outrider::cli {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// ".789" off the front; nothing there is nothing.
std::optional<Duration> take_fraction(std::string_view& text) {
    if (!text.starts_with('.')) return Duration::zero();
    const std::size_t end = std::min(text.find_first_not_of("0123456789", 1), text.size());
    const std::optional<double> part = parse_number(std::string("0").append(text.substr(0, end)));
    text.remove_prefix(end);
    if (!part) return std::nullopt;
    return Duration(static_cast<Duration::rep>(*part * 1e6));
}

std::optional<Duration> parse_offset(std::string_view text) {
    if (text == "Z" || text == "z") return Duration::zero();
    if (text.size() != 6 || text[3] != ':') return std::nullopt;
    const auto hours = parse_count(text.substr(1, 2));
    const auto rest = parse_count(text.substr(4, 2));
    if (!hours || !rest || (text[0] != '+' && text[0] != '-')) return std::nullopt;
    if (*hours > 23 || *rest > 59) return std::nullopt;
    const Duration offset = minutes(static_cast<std::int64_t>(*hours * 60 + *rest));
    return text[0] == '+' ? offset : -offset;
}

}  // namespace

std::optional<WallTime> parse_moment(const std::string& text, WallTime now) {
    if (text.starts_with('+') || text.starts_with('-')) {
        const std::optional<Duration> delay = parse_duration(text.substr(1));
        if (!delay) return std::nullopt;
        return text.starts_with('+') ? now + *delay : now - *delay;
    }
    std::tm parts{};
    const char* end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
    if (end == nullptr) return std::nullopt;
    const int day = parts.tm_mday;
    const std::time_t moment = ::timegm(&parts);  // and makes the 31st of February one of March
    if (parts.tm_mday != day) return std::nullopt;
    std::string_view rest = end;
    const std::optional<Duration> fraction = take_fraction(rest);
    const std::optional<Duration> offset = parse_offset(rest);
    if (!fraction || !offset) return std::nullopt;
    return WallTime(seconds(moment)) + *fraction - *offset;
}

}  // namespace outrider::cli
