#pragma once

#include "core/bell.h"
#include "core/clock.h"

namespace outrider::table {

// Looks again after a pause that grows while nothing comes, and starts small after a turn: nobody
// who writes into an application's table rings for us. One thread waits; any may ring.
class PollingWaker final : public Waker {
public:
    void wait(MonoTime until) override;
    void ring() override { bell_.ring(); }

private:
    SystemClock clock_;
    Bell bell_;
    Duration pause_ = Duration::zero();
    MonoTime returned_at_;
};

}  // namespace outrider::table
