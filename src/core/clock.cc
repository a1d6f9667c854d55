#include "core/clock.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>

namespace outrider {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;

MonoTime SystemClock::now() {
    return std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now());
}

WallTime SystemClock::wall() {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

std::int64_t to_millis(WallTime time) {
    return std::chrono::floor<milliseconds>(time).time_since_epoch().count();
}

WallTime from_millis(std::int64_t millis) {
    // Anything a hostile writer stores must stay a moment we can reckon with: the years 1 to 9999.
    constexpr std::int64_t kFirst = -62'135'596'800'000;
    constexpr std::int64_t kLast = 253'402'300'799'999;
    return WallTime(milliseconds(std::clamp(millis, kFirst, kLast)));
}

std::string to_iso(WallTime time) {
    const auto day_time = std::chrono::floor<seconds>(time);
    const std::time_t stamp = day_time.time_since_epoch().count();
    std::tm parts{};
    gmtime_r(&stamp, &parts);
    char text[48];
    const auto millis = duration_cast<milliseconds>(time - day_time).count();
    const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    std::snprintf(text + length, sizeof text - length, ".%03dZ", static_cast<int>(millis));
    return text;
}

}  // namespace outrider
