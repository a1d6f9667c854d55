#pragma once

#include <span>

#include "core/batch.h"
#include "core/decide.h"

namespace outrider {

// Whether the rest of a message's key may be offered after this settlement of it.
[[nodiscard]] bool key_goes_on(const Settlement& settlement, const Destination& destination);

// Completes what the broker's answers have left open, so that a store can move its cursors. On
// entry an envelope that was answered has its fate, every other one is left. Per lane:
//
//   - the cursor may pass everything up to the last answered message, and what follows it up to the
//   first open one;
//   - whatever the cursor passes without an answer is parked, uncharged: a message that is not due
//   yet until it is, one
//     whose key is held back behind it, an open one (not offered, or unanswered) due at once;
//   - behind that point everything is left, whatever it waits for.
//
// An acknowledgement that came although an earlier message of the same key is open is forgotten, so
// that a repeat is a suffix of its key and not a single message out of order. Parked messages that
// are open simply stay where they are. Pure.
void complete(
    const Batch& batch,
    const Destination& destination,
    std::span<Settlement> settlements
);

}  // namespace outrider
