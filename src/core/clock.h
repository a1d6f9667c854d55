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

// Milliseconds since 1970, the unit in which stores keep moments.
[[nodiscard]] std::int64_t to_millis(WallTime time);
[[nodiscard]] WallTime from_millis(std::int64_t millis);

// "2026-11-15T12:34:56.789Z"
[[nodiscard]] std::string to_iso(WallTime time);

// "2026-11-15T12:34:56.789012Z"
[[nodiscard]] std::string to_iso_micros(WallTime time);

}  // namespace outrider
