#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "outrider/brokers.h"
#include "outrider/destination.h"
#include "outrider/message.h"
#include "outrider/transactional.h"
#include "outrider/unit_of_work.h"

struct sqlite3;
struct pg_conn;

// For your own tests. A store and a broker that live in memory, and a wrapper that makes any broker
// fail on purpose; they pass the same conformance suites as the real ones. Commits that fail on
// purpose. And three questions: what did this transaction enqueue (EnqueueWatch), is it what was
// expected (difference), and what arrives (drain)?
//
//     testing::EnqueueWatch watch(connection);
//     shop.place(order);
//     EXPECT_EQ(testing::difference(watch.messages(), {{.topic = "orders", .key = "ada"}}), "");

namespace outrider {

class MemoryDatabase;
class StoreDriver;

namespace testing {

// How a commit should end.
enum class CommitFault : std::uint8_t {
    none,           // well
    conflict,       // Failure (yield): it met another transaction; transactional() runs it again
    refuse,         // Failure (correct): rolled back for good
    lose_question,  // CommitUnknown; it did not happen
    lose_answer,    // CommitUnknown; it happened
};

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

    // The next commits of units of work on this store end like this, one after the other; those
    // behind them go well.
    void fail_commits(const std::vector<CommitFault>& faults);

    // What outrider::begin(store) builds on.
    [[nodiscard]] std::unique_ptr<UnitSession> begin_session();

    // What became of a commit that was not answered.
    [[nodiscard]] CommitOutcome resolve(const CommitUnknown& unknown) const;

    class Ledger;  // what the copies share of faults and outcomes

private:
    std::shared_ptr<MemoryDatabase> database_;
    std::shared_ptr<Ledger> ledger_;
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

// What was enqueued in a real database since the watch was made, as its connection sees it: the
// messages of its own open transaction included, those of a rollback not. Others who write at the
// same time are seen when they have committed. Throws Failure if the database cannot be asked.
class EnqueueWatch {
public:
    explicit EnqueueWatch(sqlite3* database);  // in outrider::sqlite
    explicit EnqueueWatch(
        pg_conn* connection,
        std::string schema = "outrider"
    );  // outrider::postgres

    // In the order written.
    [[nodiscard]] std::vector<Message> messages() const { return look_(); }

private:
    std::function<std::vector<Message>()> look_;
};

// What a message should look like. What is not filled in may be anything.
struct Expected {
    std::string topic;
    std::optional<std::string> key;
    std::optional<std::string> type;
    std::optional<std::string> payload;
    std::optional<std::string> content_type;
};

// Empty if the messages are exactly the expected ones in their order; else sentences for the one
// who reads the failed test. Takes what EnqueueWatch saw as well as Transaction::pending().
[[nodiscard]] std::string difference(
    std::span<const Message> messages,
    const std::vector<Expected>& expected
);

// Delivers everything that is due, in the calling thread, and returns when nothing is: no relay, no
// waiting, no sleeping. Messages that are delayed or were refused stay parked. Throws Failure if
// the store fails, if the broker does not answer, or if a relay is at work on the same destination.
void drain(
    const std::shared_ptr<StoreDriver>& store,
    const std::shared_ptr<BrokerDriver>& broker,
    const Destination& destination = {.name = "drain"}
);

}  // namespace testing

// The unit of work and transactional() on a store in memory; code that takes a Transaction& cannot
// tell the difference.
[[nodiscard]] inline UnitOfWork<testing::MemoryStore> begin(testing::MemoryStore& store) {
    return {store.begin_session(), &store, {}};
}

template <class Work>
auto transactional(testing::MemoryStore& store, const Work& work, const Repeat& repeat = {}) {
    return run_transactional(
        repeat, [&] { return begin(store); }, work
    );
}

[[nodiscard]] inline CommitOutcome resolve(
    const testing::MemoryStore& store,
    const CommitUnknown& unknown
) {
    return store.resolve(unknown);
}

}  // namespace outrider
