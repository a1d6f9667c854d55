#pragma once

#include <memory>
#include <span>
#include <string>

#include "outrider/destination.h"

#include "core/batch.h"
#include "core/result.h"
#include "core/verdict.h"

namespace outrider {

// What a broker promises. Read by the turn, by the conformance suite and by the docs.
struct BrokerTraits {
    // Messages of one topic and key that are offered in one burst never overtake each other, and
    // nothing of a key is accepted after a failure of that key; what is answered for the rest of
    // the key then does not matter, it is taken as not offered. Nothing is promised across keys or
    // bursts. If not, the turn keeps one message per key in flight.
    bool keeps_order = false;

    // The same for all messages of a burst, whatever their keys. Asked for by destinations with
    // `order = "global"`.
    bool keeps_global_order = false;

    // The same for messages that share an order_key, whatever the destination orders by: the driver
    // offers one of them only when the one before it was acknowledged.
    bool keeps_order_keys = false;

    // Repeats are recognised by id, within some window.
    bool drops_duplicates = false;

    // The most messages offered at once. 0: no limit. A driver that works them off one after the
    // other says 1, so that a stop or the deadline is noticed in between.
    std::size_t burst_max = 0;

    // Messages are handled by code of this process, which may end it in the middle of one. Then
    // burst_max is 1, and the relay keeps a logbook.
    bool in_process = false;

    // Larger payloads are unacceptable. 0: no limit known.
    std::size_t payload_bytes_max = 0;
};

// Whether a burst of messages for a destination of this order may be offered whole.
[[nodiscard]] inline bool keeps_order(const BrokerTraits& traits, Order order) {
    if (traits.keeps_order_keys) return true;
    return order == Order::global ? traits.keeps_global_order : traits.keeps_order;
}

// What a broker says about itself, for people. Empty: it does not say.
struct BrokerFacts {
    std::string server;      // what it is: "Redis 7.0.15"
    std::string durability;  // what an acknowledgement of it means, as it is set up now
    std::string risk;        // what can lose messages there all the same; empty: nothing is known
};

// One connection to where messages go. One thread at a time.
class Broker {
public:
    virtual ~Broker() = default;

    [[nodiscard]] virtual BrokerTraits traits() const = 0;

    // Offers every envelope, in order, pipelined as far as the traits allow, and writes answers[i]
    // for envelopes[i]; what it does not write stays unanswered. Returns when all are answered or
    // at `deadline`. Connects by itself when it must. Once it has returned, nothing of the batch is
    // still queued in the client library, so the memory may go and nothing is sent behind the
    // caller's back. Never throws.
    virtual void publish(
        std::span<const Envelope> envelopes,
        Deadline deadline,
        std::span<Answer> answers
    ) = 0;

    // Whether the broker is there and would take messages.
    [[nodiscard]] virtual Result<void> ping(Deadline deadline) = 0;

    // The same question, with an answer that an operator can read.
    [[nodiscard]] virtual Result<BrokerFacts> describe(Deadline deadline) {
        if (Result<void> there = ping(deadline); !there) return there.error();
        return BrokerFacts{};
    }

    // What the client library has counted, as one JSON object, if it has said so since the last
    // call; else empty. Asked for after every burst.
    [[nodiscard]] virtual std::string take_statistics() { return {}; }
};

// A broker, and how to reach it. Safe from any thread; must outlive what it opens.
class BrokerDriver {
public:
    virtual ~BrokerDriver() = default;

    // A connection of a worker's own. That the broker is away is not an error here: connecting
    // waits for publish.
    [[nodiscard]] virtual Result<std::unique_ptr<Broker>> open() = 0;
};

// Whether a batch, as its store made it, may be offered whole.
[[nodiscard]] inline bool keeps_order(const BrokerTraits& traits, Order order, const Batch& batch) {
    if (batch.keys_cross_topics && order != Order::none) {
        return traits.keeps_global_order || traits.keeps_order_keys;
    }
    return keeps_order(traits, order);
}

}  // namespace outrider
