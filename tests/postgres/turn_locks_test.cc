#include <atomic>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "outrider/brokers.h"
#include "outrider/observer.h"
#include "outrider/relay.h"
#include "outrider/testing.h"

#include "postgres/short_cut.h"

// What an open turn locks of the log, and what happens to one that cannot have its lock.

namespace outrider {
namespace {

using Payloads = short_cut::Payloads;
using Clock = std::chrono::steady_clock;

constexpr auto kTurnPatience = std::chrono::seconds(60);

constexpr const char* kLockedLanes =
    "select count(*) from pg_locks where locktype = 'advisory' and mode = 'ExclusiveLock' and "
    "database = (select oid from pg_database where datname = current_database())";

std::uint64_t clean_up_aged(const PostgresLog& log) {
    short_cut::age_segments(PostgresSession(log.conninfo));
    const Result<std::uint64_t> emptied = log.admin()->clean_up(Duration::zero(), 1000);
    if (!emptied) throw std::runtime_error(emptied.error().text);
    return *emptied;
}

// The segments that anybody but the one who asks has locked, indexes left out.
Payloads locked_segments(const PostgresSession& session) {
    return session.column(
        "select distinct c.relname from pg_locks l join pg_class c on c.oid = l.relation "
        "where l.granted and c.relkind = 'r' and c.relname ~ '^message_[0-9]$' and l.database = "
        "(select oid from pg_database where datname = current_database()) "
        "and l.pid <> pg_backend_pid() order by 1"
    );
}

Batch claim(Store& store) {
    Result<Batch> batch = store.claim({10, 1000});
    if (!batch) throw std::runtime_error(batch.error().text);
    return std::move(batch).value();
}

// Four lanes with a message each in segment 1, which has been closed since.
class PostgresTurnLocks : public ::testing::Test {
protected:
    PostgresTurnLocks() : log(4, short_cut::quiet_server()), session(log.conninfo) {
        for (const char* key : {"a", "b", "c", "d", "e", "f"}) insert(session, key, key);
    }

    PostgresLog log;
    PostgresSession session;
};

TEST_F(PostgresTurnLocks, ATurnThatMustReadASegmentHoldsItsTruncation) {
    const auto store = log.open(everything());
    EXPECT_EQ(clean_up_aged(log), 0U);
    const Batch turn = claim(*store);
    EXPECT_FALSE(turn.envelopes.empty());
    EXPECT_EQ(locked_segments(session), (Payloads{"message_1", "message_2"}));
    EXPECT_EQ(clean_up_aged(log), 0U);
}

// However long its broker takes: the truncation does not wait, nor does it make anybody wait.
TEST_F(PostgresTurnLocks, ATurnWhoseLanesHavePassedASegmentNamesItNoMore) {
    const auto store = log.open(everything());
    EXPECT_EQ(take_all(*store).size(), 6U);
    EXPECT_EQ(clean_up_aged(log), 0U) << "closed, and not passed yet";
    EXPECT_TRUE(take_all(*store).empty());
    insert(session, "a", "in the second");
    const Batch turn = claim(*store);
    EXPECT_EQ(turn.envelopes.size(), 1U);
    EXPECT_EQ(locked_segments(session), Payloads{"message_2"});
    EXPECT_EQ(clean_up_aged(log), 1U);
    EXPECT_EQ(session.value("select count(*) from outrider.message"), "1");
}

// Another destination, or a lane that nobody claims, is behind: the turn of the one that is ahead
// does not name the segment all the same, and the segment stays.
TEST_F(PostgresTurnLocks, ADestinationThatIsAheadDoesNotNameWhatAnotherStillNeeds) {
    const auto ahead = log.open(everything());
    const auto behind = log.open(everything("behind"));
    EXPECT_EQ(take_all(*ahead).size(), 6U);
    EXPECT_EQ(clean_up_aged(log), 0U);
    EXPECT_TRUE(take_all(*ahead).empty());
    insert(session, "a", "in the second");
    {
        const Batch turn = claim(*ahead);
        EXPECT_EQ(locked_segments(session), Payloads{"message_2"});
        EXPECT_EQ(clean_up_aged(log), 0U) << "the other one needs it";
    }
    EXPECT_EQ(take_all(*behind).size(), 7U);
}

// Whichever lane it is in, and whichever lanes were tried first.
TEST_F(PostgresTurnLocks, AWorkerThatFindsAMessageBeyondItsShareLeavesTheOtherLanesAlone) {
    Destination destination = everything();
    destination.workers = 2;
    const auto store = log.open(destination);
    EXPECT_EQ(take_all(*store).size(), 6U);
    for (int i = 0; i < 20; ++i) {
        const std::string key = std::to_string(i);
        insert(session, key, key);
        {
            const Batch turn = claim(*store);
            ASSERT_EQ(turn.envelopes.size(), 1U);
            EXPECT_EQ(session.value(kLockedLanes), "2") << "of four";
        }
        EXPECT_EQ(take_all(*store), Payloads{key});
    }
}

// Locks are in a table of the whole cluster, and a broker may take its time.
TEST(PostgresLanes, ATurnHoldsAFewOfVeryManyLanes) {
    const PostgresLog log(256, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    session.run(
        "insert into outrider.message (topic, key, payload) "
        "select 't', i::text, '' from generate_series(1, 2000) i"
    );
    const auto store = log.open(everything());
    {
        const Batch turn = claim(*store);
        EXPECT_FALSE(turn.envelopes.empty());
        EXPECT_EQ(session.value(kLockedLanes), "32");
    }
    // Lanes without a message settle, too: a turn with nothing to deliver is not the end.
    std::size_t taken = 0;
    for (int turns = 0; taken < 2000 && turns < 1000; ++turns) taken += take(*store, 1000).size();
    EXPECT_EQ(taken, 2000U);
}

class Faults final : public Observer {
public:
    void faulted(const Destination& /*destination*/, Stage stage, const Error& error) override {
        const std::lock_guard lock(mutex_);
        faults_.emplace_back(stage, error);
    }
    [[nodiscard]] std::optional<Error> of(Stage stage) const {
        const std::lock_guard lock(mutex_);
        for (const auto& [where, error] : faults_) {
            if (where == stage) return error;
        }
        return std::nullopt;
    }
    [[nodiscard]] bool wait_for(Stage stage) const {
        const auto deadline = Clock::now() + kTurnPatience;
        while (!of(stage) && Clock::now() < deadline) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        return of(stage).has_value();
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::pair<Stage, Error>> faults_;
};

// A relay while somebody has locked a table of ours, as VACUUM FULL or a careless migration does.
class PostgresStuck : public ::testing::Test {
protected:
    void start(const testing::FaultRule& rule) {
        Destination destination = everything();
        destination.publish_deadline = std::chrono::seconds(1);  // the server gives five more
        relay.add(destination, faulty_broker(broker.driver(), rule));
        relay.start();
    }

    // What the relay says of the lock, which is still held then.
    void expect_timeout(Stage stage) const {
        const auto start = Clock::now();
        ASSERT_TRUE(faults->wait_for(stage)) << "it waits for ever";
        EXPECT_LT(Clock::now() - start, std::chrono::seconds(30));
        const Error error = *faults->of(stage);
        EXPECT_EQ(error.remedy, Remedy::wait);
        EXPECT_NE(error.text.find("timeout"), std::string::npos) << error.text;
    }

    [[nodiscard]] bool all_is_settled() const {
        const auto deadline = Clock::now() + kTurnPatience;
        while (Clock::now() < deadline) {
            const Result<Backlog> backlog = log.admin()->backlog({});
            if (backlog && backlog->destinations[0].pending == 0) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return false;
    }

    PostgresLog log{4, short_cut::quiet_server()};
    PostgresSession session{log.conninfo};
    PostgresSession holder{log.conninfo};
    testing::MemoryBroker broker;
    std::shared_ptr<Faults> faults = std::make_shared<Faults>();
    Relay relay{log.driver(), {.idle_poll = std::chrono::milliseconds(50)}, faults};
};

TEST_F(PostgresStuck, AClaimThatCannotHaveItsSegmentEndsAndTheRelayRecovers) {
    start([](const Delivery&) { return testing::Fault::none; });
    insert(session, "k", "before");
    ASSERT_TRUE(broker.wait_for(1, kTurnPatience));
    holder.run("begin; lock table outrider.message_1 in access exclusive mode");
    expect_timeout(Stage::claim);
    holder.run("rollback");
    insert(session, "k", "after");
    EXPECT_TRUE(broker.wait_for(2, kTurnPatience)) << "it does not recover";
    EXPECT_TRUE(all_is_settled());
}

// What was published by then is published again: it has not been settled.
TEST_F(PostgresStuck, ASettleThatCannotHaveTheCursorsEndsAndTheRelayRecovers) {
    std::atomic<bool> held = false;
    start([&](const Delivery&) {
        if (!held.exchange(true)) holder.run("begin; lock table outrider.progress in share mode");
        return testing::Fault::none;
    });
    insert(session, "k", "published");
    expect_timeout(Stage::settle);
    holder.run("rollback");
    EXPECT_TRUE(all_is_settled()) << "it does not recover";
    EXPECT_GE(broker.received().size(), 2U);
}

// The first calls last longer than the server waits for a broker: one second, and five more.
TEST(PostgresTurn, WhatASlowHandlerHasHandledIsNotHandledAgain) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    for (const std::string payload : {"1", "2", "3"}) insert(session, "k", payload);
    std::mutex mutex;
    Payloads handled;
    const auto calls = [&] {
        const std::lock_guard lock(mutex);
        return handled.size();
    };
    const auto handler = [&](const Delivery& delivery) {
        if (calls() < 2) std::this_thread::sleep_for(std::chrono::seconds(7));
        const std::lock_guard lock(mutex);
        handled.emplace_back(delivery.payload);
    };
    const auto faults = std::make_shared<Faults>();
    Relay relay(log.driver(), {}, faults);
    Destination destination = everything();
    destination.publish_deadline = std::chrono::seconds(1);
    relay.add(destination, handler_broker(handler));
    relay.start();
    const auto deadline = Clock::now() + kTurnPatience;
    while ((calls() < 3 || !relay.is_idle()) && Clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    relay.stop();
    EXPECT_EQ(handled, (Payloads{"1", "2", "3"}));
    EXPECT_TRUE(faults->of(Stage::settle)) << "or the calls were not slow enough";
    EXPECT_TRUE(take_all(*log.open(everything())).empty());
}

}  // namespace
}  // namespace outrider
