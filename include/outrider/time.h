#pragma once

#include <chrono>

namespace outrider {

// Spans of time, everywhere. Never a bare integer.
using Duration = std::chrono::microseconds;

// A moment on the calendar: when something happened, when something is due. It may jump; nothing
// that decides who owns work is measured with it.
using WallTime = std::chrono::sys_time<Duration>;

// A moment on a clock that never goes back. Deadlines and waits are measured with it.
using MonoTime = std::chrono::time_point<std::chrono::steady_clock, Duration>;
using Deadline = MonoTime;

}  // namespace outrider
