#include "core/clock.h"

#include <algorithm>
#include <chrono>

namespace outrider {

using std::chrono::milliseconds;

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
    // Anything a hostile writer stores must stay a moment we can reckon with.
    return WallTime(milliseconds(std::clamp(millis, to_millis(kFirstMoment), to_millis(kLastMoment))
    ));
}

std::string to_iso(WallTime moment) {
    const WallTime time = std::clamp(moment, kFirstMoment, kLastMoment);
    // By hand, since every line of a file needs one and strftime takes longer than all the rest.
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss clock(std::chrono::floor<milliseconds>(time - day));
    std::string text = "0000-00-00T00:00:00.000Z";
    const auto put = [&text](std::size_t last, std::int64_t value) {
        for (; value > 0; value /= 10) text[last--] = static_cast<char>('0' + value % 10);
    };
    put(3, static_cast<int>(date.year()));
    put(6, static_cast<unsigned>(date.month()));
    put(9, static_cast<unsigned>(date.day()));
    put(12, clock.hours().count());
    put(15, clock.minutes().count());
    put(18, clock.seconds().count());
    put(22, clock.subseconds().count());
    return text;
}

std::string to_iso_micros(WallTime moment) {
    const WallTime time = std::clamp(moment, kFirstMoment, kLastMoment);
    std::string text = to_iso(time);
    const auto micros = (time - std::chrono::floor<milliseconds>(time)).count();
    const std::string digits = std::to_string(1000 + micros);
    return text.replace(text.size() - 1, 1, digits.substr(1) + "Z");
}

}  // namespace outrider
