#pragma once

#include <algorithm>

#include "outrider/time.h"

namespace outrider {

// How long to pause before the next look that nobody asks for: a moment after something was found,
// since more is likely to come, then twice as long each time, up to a limit. A value; no clock.
class LookPause {
public:
    LookPause(Duration first, Duration max) : first_(first), max_(max) {}

    void found() { pause_ = Duration::zero(); }
    [[nodiscard]] Duration next() { return pause_ = std::clamp(pause_ * 2, first_, max_); }

private:
    Duration first_;
    Duration max_;
    Duration pause_ = Duration::zero();
};

}  // namespace outrider
