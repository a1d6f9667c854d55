#pragma once

#include "outrider/time.h"

namespace outrider {

// What a worker sleeps on. A ring that comes while nobody sleeps is kept for the next wait, so
// nothing that happens between a look and a sleep is missed. ring() is for any thread, the others
// for the one that sleeps.
class Waker {
public:
    virtual ~Waker() = default;

    // Returns when rung, when the store may have something new, or at `until`, whichever comes
    // first. May return for no reason.
    virtual void wait(MonoTime until) = 0;

    virtual void ring() = 0;

    // Told after every look at the store. Where nobody says when to look, the next look comes soon
    // after one that has found something.
    virtual void looked(bool /*found*/) {}
};

}  // namespace outrider
