#pragma once

#include "core/bell.h"
#include "core/clock.h"
#include "core/look_pause.h"

namespace outrider::table {

// Looks again after a pause that grows while nothing comes, and starts small after a find: nobody
// who writes into an application's table rings for us. One thread waits; any may ring.
class PollingWaker final : public Waker {
public:
    void wait(MonoTime until) override;
    void ring() override { bell_.ring(); }
    void looked(bool found) override;

private:
    SystemClock clock_;
    Bell bell_;
    LookPause pause_{std::chrono::milliseconds(2), std::chrono::milliseconds(100)};
};

}  // namespace outrider::table
