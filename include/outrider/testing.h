#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "outrider/brokers.h"
#include "outrider/message.h"

// For your own tests: a store and a broker that live in memory, and a wrapper that makes any broker
// fail on purpose. They pass the same conformance suites as the real ones.

namespace outrider {

class MemoryDatabase;
class StoreDriver;

namespace testing {

// A database in memory with transactions that only know messages. Copies share one database. Safe
// from any thread.
class MemoryStore {
public:
    // `lanes`: how many turns can be made side by side for one destination.
    explicit MemoryStore(std::size_t lanes = 1);

    // Messages become visible to relays when it commits, all at once; without commit() they never
    // existed.
    class Transaction {
    public:
        explicit Transaction(std::shared_ptr<MemoryDatabase> database);

        // Throws Failure (correct) if the message may not be written, or the transaction is over.
        MessageId enqueue(Message message);
        void commit();

    private:
        std::shared_ptr<MemoryDatabase> database_;  // empty: over
        std::vector<Message> messages_;
    };

    [[nodiscard]] Transaction begin() { return Transaction(database_); }

    // For outrider::Relay.
    [[nodiscard]] std::shared_ptr<StoreDriver> driver() const;

private:
    std::shared_ptr<MemoryDatabase> database_;
};

// One message as a memory broker got it.
struct Received {
    MessageId id;
    std::string topic;
    std::string key;
    std::string type;
    std::string content_type;
    std::string payload;
    std::vector<Header> headers;
};

// A broker that remembers everything it acknowledged, in order of arrival. Copies share one memory.
// Safe from any thread.
class MemoryBroker {
public:
    MemoryBroker();

    [[nodiscard]] std::vector<Received> received() const;

    // Waits until at least `count` messages have arrived. False: they did not within `patience`.
    [[nodiscard]] bool wait_for(std::size_t count, Duration patience) const;

    [[nodiscard]] std::shared_ptr<BrokerDriver> driver() const;

    class Shelf;  // what the copies share

private:
    std::shared_ptr<Shelf> shelf_;
};

// What should happen to a message on its way to a wrapped broker.
enum class Fault : std::uint8_t {
    none,          // it goes through
    refuse,        // the broker never sees it; refused
    unacceptable,  // the broker never sees it; unacceptable
    lose_message,  // the broker never sees it; unanswered
    lose_answer,   // the broker gets it, the answer is lost; unanswered
};

// Asked for every message of every try. Called from relay threads.
using FaultRule = std::function<Fault(const Delivery&)>;

// Wraps any broker: what the rule lets through goes on to it.
[[nodiscard]] std::shared_ptr<BrokerDriver> faulty_broker(
    std::shared_ptr<BrokerDriver> inner,
    FaultRule rule
);

}  // namespace testing
}  // namespace outrider
