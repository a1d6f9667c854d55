#pragma once

#include <cstdint>
#include <unordered_map>

#include "core/hash.h"

namespace outrider::nats {

// Which keys have had a message published again whose first copy had gone from its stream. The
// copies of that key's later messages which the stream still has stand before it now, so they are
// published again, too: a repeat is a suffix. Memory is bounded: what no longer fits is remembered
// as if it were of every key, which costs repeats.
class Renewals {
public:
    // A message of the key was published again, and is there with this sequence.
    void remember(OrderKey key, std::uint64_t sequence);

    // Whether a copy with this sequence stands before such a message.
    [[nodiscard]] bool is_overtaken(OrderKey key, std::uint64_t sequence) const;

private:
    std::unordered_map<OrderKey, std::uint64_t> by_key_;
    std::uint64_t of_every_key_ = 0;
};

}  // namespace outrider::nats
