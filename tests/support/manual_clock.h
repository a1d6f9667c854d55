#pragma once

#include <functional>
#include <mutex>

#include "core/clock.h"

namespace outrider {

// A clock that stands still until told otherwise. Safe from any thread.
class ManualClock final : public Clock {
public:
    [[nodiscard]] MonoTime now() override {
        const std::lock_guard lock(mutex_);
        return mono_;
    }
    [[nodiscard]] WallTime wall() override {
        const std::lock_guard lock(mutex_);
        return wall_;
    }

    void advance(Duration by) {
        {
            const std::lock_guard lock(mutex_);
            mono_ += by;
            wall_ += by;
        }
        if (on_change) on_change(wall());
    }

    // Told of every change, for databases that must learn the time.
    std::function<void(WallTime)> on_change;

private:
    std::mutex mutex_;
    MonoTime mono_{std::chrono::hours(1)};
    WallTime wall_{std::chrono::sys_days(std::chrono::year(2026) / 11 / 15)};
};

}  // namespace outrider
