#include "stores/table/waker.h"

#include <algorithm>

namespace outrider::table {
namespace {

constexpr Duration kPauseFirst = std::chrono::milliseconds(2);
constexpr Duration kPauseMax = std::chrono::milliseconds(100);

// An empty claim is quicker than this: whoever was away for longer has made a turn.
constexpr Duration kTurn = std::chrono::milliseconds(3);

}  // namespace

void PollingWaker::wait(MonoTime until) {
    const MonoTime now = clock_.now();
    const bool has_turned = now - returned_at_ > kTurn;
    pause_ = has_turned ? kPauseFirst : std::clamp(pause_ * 2, kPauseFirst, kPauseMax);
    bell_.wait(std::min(until, now + pause_));
    returned_at_ = clock_.now();
}

}  // namespace outrider::table
