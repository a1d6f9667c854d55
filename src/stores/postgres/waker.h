#pragma once

#include "core/bell.h"
#include "core/clock.h"

namespace outrider::postgres {

// Looks again after a pause that grows while nothing comes, and starts small after a turn. A claim
// that finds nothing is cheap: one round trip, no transaction id, no snapshot kept.
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

}  // namespace outrider::postgres
