#pragma once

#include "outrider/time.h"

namespace outrider {

// What a worker sleeps on. A ring that comes while nobody sleeps is kept for the next wait, so
// nothing that happens between a look and a sleep is missed. wait() is for one thread; ring() for
// any.
class Waker {
public:
    virtual ~Waker() = default;

    // Returns when rung, when the store may have something new, or at `until`, whichever comes
    // first. May return for no reason.
    virtual void wait(MonoTime until) = 0;

    virtual void ring() = 0;
};

}  // namespace outrider
