#pragma once

#include <cstddef>
#include <cstdint>

#include "outrider/time.h"

namespace outrider::kafka {

// Where the messages of a topic that have no key go: many in a row to one partition, so that they
// share its batches, and then to the next one. We choose and not the library, since what goes first
// to a partition must go alone (see Burst).
struct Spread {
    std::uint64_t step = 0;
    std::size_t messages = 0;  // of this step
    MonoTime round;
};

// How many go to one partition before the next one has its turn.
constexpr std::size_t kSpreadMessages = 1000;

// The partition of the next message among `count`, which are at least one; a new round goes on to
// another one. Those that `takes(partition)` says no of are passed over, if there is another.
template <class Takes>
[[nodiscard]] std::int32_t next_partition(
    Spread& spread,
    std::int32_t count,
    MonoTime round,
    const Takes& takes
) {
    if (spread.round != round || spread.messages == kSpreadMessages) {
        ++spread.step;
        spread.messages = 0;
        spread.round = round;
    }
    ++spread.messages;
    const auto size = static_cast<std::uint64_t>(count);
    for (std::uint64_t tries = 0; tries < size; ++tries, ++spread.step) {
        const auto partition = static_cast<std::int32_t>(spread.step % size);
        if (takes(partition)) return partition;
    }
    return static_cast<std::int32_t>(spread.step % size);
}

}  // namespace outrider::kafka
