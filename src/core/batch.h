#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "outrider/envelope.h"

namespace outrider {

// One claim: envelopes, oldest first within each order key, the memory they live in, and the lanes
// they were taken from. Dropped unsettled, the claim is given back as if it had never been.
struct Batch {
    // What a store keeps with a claim: its memory, its open transaction.
    class Hold {
    public:
        virtual ~Hold() = default;
    };

    std::vector<Envelope> envelopes;

    // The store's time at the claim. Due times are reckoned from it.
    WallTime now;

    // How many messages were ever written to the store, about: the difference between two claims
    // tells what comes in, whoever takes it. 0: the store does not say.
    std::int64_t written = 0;

    // A limit was reached: more is waiting, so claim again at once.
    bool full = false;

    // There is something to settle even without envelopes: the claim passed over enough messages of
    // other topics.
    bool passed = false;

    // Messages of one order key may have different topics, so a broker that keeps the order of a
    // topic and key does not keep theirs.
    bool keys_cross_topics = false;

    // All lanes are in other hands. Nothing was claimed.
    bool held_elsewhere = false;

    // The operator has paused the destination. Nothing was claimed.
    bool paused = false;

    // When the next parked message of the destination is due, if one is.
    std::optional<WallTime> next_due;

    std::unique_ptr<Hold> hold;
};

// Bytes of a message as they count against the limits of a batch.
[[nodiscard]] std::size_t weight(const Envelope& envelope);

}  // namespace outrider
