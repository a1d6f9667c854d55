#pragma once

#include <condition_variable>
#include <mutex>

#include "core/waker.h"

namespace outrider {

// A waker for stores in this process, and for threads that only wait: a flag and a condition
// variable.
class Bell final : public Waker {
public:
    void wait(MonoTime until) override {
        std::unique_lock lock(mutex_);
        condition_.wait_until(lock, until, [this] { return rung_; });
        rung_ = false;
    }

    void ring() override {
        {
            const std::lock_guard lock(mutex_);
            rung_ = true;
        }
        condition_.notify_one();
    }

private:
    std::mutex mutex_;
    std::condition_variable condition_;
    bool rung_ = false;
};

}  // namespace outrider
