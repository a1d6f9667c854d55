#pragma once

#include <cstdint>
#include <string>

#include "outrider/time.h"

namespace outrider {

// The time, for everything in the loop, so that tests and simulation can turn the hands. Safe from
// any thread.
class Clock {
public:
    virtual ~Clock() = default;
    [[nodiscard]] virtual MonoTime now() = 0;
    [[nodiscard]] virtual WallTime wall() = 0;
};

// The clocks of the machine.
class SystemClock final : public Clock {
public:
    [[nodiscard]] MonoTime now() override;
    [[nodiscard]] WallTime wall() override;
};

// The years 1 to 9999: the moments that every database and every text of ours can hold.
inline constexpr WallTime kFirstMoment{std::chrono::sys_days(std::chrono::year(1) / 1 / 1)};
inline constexpr WallTime kLastMoment =
    WallTime(std::chrono::sys_days(std::chrono::year(10000) / 1 / 1)) - Duration(1);

// Milliseconds since 1970, the unit in which stores keep moments.
[[nodiscard]] std::int64_t to_millis(WallTime time);
[[nodiscard]] WallTime from_millis(std::int64_t millis);

// "2026-11-15T12:34:56.789Z". A moment outside the calendar becomes its first or last one.
[[nodiscard]] std::string to_iso(WallTime moment);

// "2026-11-15T12:34:56.789012Z". The same.
[[nodiscard]] std::string to_iso_micros(WallTime moment);

}  // namespace outrider
