// The sleep of an idle relay: postgres-log, rule 11. The relays here look unasked only once an
// hour, so whatever arrives was rung for.
#include <atomic>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "outrider/observer.h"
#include "outrider/relay.h"
#include "outrider/testing.h"

#include "core/clock.h"
#include "postgres/log.h"
#include "stores/postgres/bell_line.h"
#include "stores/postgres/ring_rate.h"

namespace outrider {
namespace {

using Crowd = postgres::RingRate::Crowd;

constexpr Duration kPatience = std::chrono::seconds(60);

const std::string kInsert = "insert into outrider.message(topic, payload) values ('t', 'x')";
const std::string kBell = "select 1 - is_called::integer from outrider.active";

template <class Condition>
bool wait_until(const Condition& condition) {
    const MonoTime deadline = SystemClock().now() + kPatience;
    while (!condition()) {
        if (SystemClock().now() > deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

int sleepers(const PostgresSession& session, std::string_view schema = "outrider") {
    const postgres::Names names = *postgres::Names::of(schema);
    return std::stoi(session.value(
        "select count(*) from pg_locks where locktype = 'advisory' and mode = 'ShareLock' and "
        "granted and database = (select oid from pg_database where datname = current_database()) "
        "and (classid::bigint << 32 | objid::bigint) = " +
        std::to_string(postgres::sleepers_lock(names))
    ));
}

class Notes final : public Observer {
public:
    void store_noted(std::string_view text) override {
        const std::lock_guard lock(mutex_);
        notes_.emplace_back(text);
    }
    [[nodiscard]] std::vector<std::string> all() const {
        const std::lock_guard lock(mutex_);
        return notes_;
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::string> notes_;
};

// A relay that only looks when it is rung.
class Sleepyhead {
public:
    explicit Sleepyhead(const PostgresLog& log, std::size_t workers = 1)
        : notes(std::make_shared<Notes>()),
          relay(log.driver(), options(), notes) {
        Destination destination = everything();
        destination.workers = workers;
        relay.add(destination, broker.driver());
        relay.start();
    }

    static RelayOptions options() {
        RelayOptions options;
        options.idle_poll = std::chrono::hours(1);
        return options;
    }

    // It listens, nothing is left to do, and nobody in the server works for it.
    [[nodiscard]] static bool sleeps(const PostgresSession& session) {
        return sleepers(session) > 0 && session.value(kBell) == "1";
    }

    [[nodiscard]] bool has_got(std::size_t count) const {
        return broker.wait_for(count, kPatience) && broker.received().size() == count;
    }

    testing::MemoryBroker broker;
    std::shared_ptr<Notes> notes;
    Relay relay;
};

TEST(PostgresDoorbell, ACommitWakesASleepingRelay) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    const Sleepyhead sleepyhead(log, 3);
    ASSERT_TRUE(wait_until([&] { return Sleepyhead::sleeps(session); }));
    for (std::size_t i = 1; i <= 5; ++i) {
        session.run(kInsert);
        ASSERT_TRUE(sleepyhead.has_got(i)) << i;
    }
}

TEST(PostgresDoorbell, AWriterThatLookedTooEarlyIsWaitedFor) {
    const PostgresLog log;
    const PostgresSession watcher(log.conninfo);
    const PostgresSession writer(log.conninfo);
    const PostgresSession slow(log.conninfo);
    slow.run("begin; " + kInsert);
    writer.run("begin; " + kInsert);  // the bell is down: it will ring nobody
    const Sleepyhead sleepyhead(log);
    ASSERT_TRUE(wait_until([&] { return Sleepyhead::sleeps(watcher); }));
    writer.run("commit");
    EXPECT_TRUE(sleepyhead.has_got(1));
    slow.run("commit");
    EXPECT_TRUE(sleepyhead.has_got(2));
}

TEST(PostgresDoorbell, AnEarlyWriterThatRollsBackLeavesNothing) {
    const PostgresLog log;
    const PostgresSession watcher(log.conninfo);
    const PostgresSession writer(log.conninfo);
    writer.run("begin; " + kInsert);
    const Sleepyhead sleepyhead(log);
    ASSERT_TRUE(wait_until([&] { return Sleepyhead::sleeps(watcher); }));
    writer.run("rollback");
    watcher.run(kInsert);
    EXPECT_TRUE(sleepyhead.has_got(1));
}

TEST(PostgresDoorbell, NobodyLowersItWhileAnotherSleeps) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    const postgres::Names names = *postgres::Names::of("outrider");
    Result<postgres::BellLine> a = postgres::BellLine::open(log.conninfo, names);
    ASSERT_TRUE(a && a->raise());
    {
        Result<postgres::BellLine> b = postgres::BellLine::open(log.conninfo, names);
        ASSERT_TRUE(b && b->raise());
        ASSERT_TRUE(b->lower());
    }
    EXPECT_EQ(session.value(kBell), "1");
    session.run(kInsert);
    const Result<int> rings = a->listen(-1, SystemClock().now() + kPatience);
    ASSERT_TRUE(rings);
    EXPECT_EQ(*rings, 1);
    ASSERT_TRUE(a->lower());
    EXPECT_EQ(session.value(kBell), "0");
    session.run(kInsert);
    const Result<int> silence = a->listen(-1, SystemClock().now() + std::chrono::milliseconds(100));
    ASSERT_TRUE(silence);
    EXPECT_EQ(*silence, 0);
}

TEST(PostgresDoorbell, WhoeverLeavesLastLowersIt) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    const postgres::Names names = *postgres::Names::of("outrider");
    Result<postgres::BellLine> other = postgres::BellLine::open(log.conninfo, names);
    ASSERT_TRUE(other && other->raise());
    {
        const Sleepyhead sleepyhead(log);
        ASSERT_TRUE(wait_until([&] { return sleepers(session) == 2; }));
    }
    EXPECT_EQ(session.value(kBell), "1") << "the other still sleeps";
    ASSERT_TRUE(other->lower());
    {
        const Sleepyhead sleepyhead(log);
        ASSERT_TRUE(wait_until([&] { return Sleepyhead::sleeps(session); }));
    }
    EXPECT_EQ(session.value(kBell), "0");
}

TEST(PostgresDoorbell, IsLoweredWhileThereIsMuchTrafficAndRaisedAfterIt) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    const Sleepyhead sleepyhead(log, 2);
    ASSERT_TRUE(wait_until([&] { return Sleepyhead::sleeps(session); }));
    std::size_t sent = 0;
    const bool lowered = wait_until([&] {
        session.run("do $$ begin for i in 1..100 loop " + kInsert + "; commit; end loop; end $$");
        sent += 100;
        return session.value(kBell) == "0";
    });
    ASSERT_TRUE(lowered);
    EXPECT_TRUE(sleepyhead.has_got(sent));
    ASSERT_TRUE(wait_until([&] { return Sleepyhead::sleeps(session); }));
    session.run(kInsert);
    EXPECT_TRUE(sleepyhead.has_got(sent + 1));
}

// Commits that ring go one by one. Where each takes long (a slow disk, a standby that must confirm)
// the rings are few, but the writers wait in a row: 117 commits a second instead of 1,750.
TEST(PostgresDoorbell, IsLoweredWhereCommitsAreSlow) {
    PostgresServer server("commit_delay = 8000\ncommit_siblings = 0");
    const PostgresLog log(4, server);
    const PostgresSession session(log.conninfo);
    const Sleepyhead sleepyhead(log);
    ASSERT_TRUE(wait_until([&] { return Sleepyhead::sleeps(session); }));
    std::atomic<std::size_t> sent = 0;
    bool lowered = false;
    {
        std::vector<std::jthread> writers;
        for (int i = 0; i < 8; ++i) {
            writers.emplace_back([&](const std::stop_token& stop) {
                const PostgresSession writer(log.conninfo);
                for (; !stop.stop_requested(); ++sent) writer.run(kInsert);
            });
        }
        lowered = wait_until([&] { return session.value(kBell) == "0"; });
    }
    EXPECT_TRUE(lowered);
    EXPECT_TRUE(sleepyhead.has_got(sent));
}

TEST(PostgresDoorbell, ComesBackWhenItsSessionIsLost) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    const Sleepyhead sleepyhead(log);
    ASSERT_TRUE(wait_until([&] { return Sleepyhead::sleeps(session); }));
    session.run(
        "select pg_terminate_backend(pid) from pg_stat_activity "
        "where pid <> pg_backend_pid() and datname = current_database()"
    );
    for (std::size_t i = 1; i <= 3; ++i) {
        session.run(kInsert);
        EXPECT_TRUE(sleepyhead.has_got(i));
        ASSERT_TRUE(wait_until([&] { return Sleepyhead::sleeps(session); }));
    }
    EXPECT_EQ(sleepyhead.notes->all().size(), 1U);
}

// How many were settled, and not only published: those come again if a session is lost.
std::size_t settled(const PostgresSession& session) {
    return std::stoul(session.value("select coalesce(sum(delivered), 0) from outrider.cursor"));
}

// Written while nobody listens: whoever comes back listens first and looks then.
TEST(PostgresDoorbell, MissesNothingHoweverOftenItsSessionIsLost) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    const Sleepyhead sleepyhead(log);
    for (std::size_t i = 1; i <= 5; ++i) {
        ASSERT_TRUE(wait_until([&] {
            return Sleepyhead::sleeps(session) && settled(session) == i - 1;
        }));
        session.run(
            "select pg_terminate_backend(pid) from pg_stat_activity "
            "where pid <> pg_backend_pid() and datname = current_database()"
        );
        session.run(kInsert);
        ASSERT_TRUE(sleepyhead.has_got(i));
    }
}

TEST(PostgresDoorbell, ARingThatIsRolledBackToASavepointIsRungAgain) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    const Sleepyhead sleepyhead(log);
    ASSERT_TRUE(wait_until([&] { return Sleepyhead::sleeps(session); }));
    session.run("begin; savepoint s; " + kInsert + "; rollback to s; " + kInsert + "; commit");
    EXPECT_TRUE(sleepyhead.has_got(1));
}

TEST(PostgresDoorbell, OneTransactionRingsForEveryLogThatItWritesTo) {
    PostgresLog log;
    const PostgresSession session(log.conninfo);
    const Sleepyhead first(log);
    log.options.schema = "Second";
    ASSERT_TRUE(log.admin()->migrate());
    const Sleepyhead second(log);
    ASSERT_TRUE(wait_until([&] {
        return sleepers(session) == 1 && sleepers(session, "Second") == 1;
    }));
    const std::string other = "insert into \"Second\".message(topic, payload) values ('t', 'x')";
    session.run("begin; " + kInsert + "; " + other + "; " + kInsert + "; commit");
    EXPECT_TRUE(first.has_got(2));
    EXPECT_TRUE(second.has_got(1));
}

TEST(PostgresDoorbell, ATransactionThatHasRungGoesOnInTheNextSegment) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    const PostgresSession writer(log.conninfo);
    const Sleepyhead sleepyhead(log);
    ASSERT_TRUE(wait_until([&] { return Sleepyhead::sleeps(session); }));
    writer.run("begin; " + kInsert);
    session.run("update outrider.segment set opened_at = now() where segment = 2");
    session.run("select setval('outrider.active', 2, is_called) from outrider.active");
    session.run(kInsert);
    EXPECT_TRUE(sleepyhead.has_got(1));
    writer.run(kInsert);
    writer.run("commit; " + kInsert);
    EXPECT_TRUE(sleepyhead.has_got(4));
    EXPECT_EQ(session.value("select count(*) from outrider.message_1"), "1");
    EXPECT_EQ(session.value("select count(*) from outrider.message_2"), "3");
}

TEST(PostgresDoorbell, TwoPhaseWritersSilenceIt) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    const Sleepyhead sleepyhead(log);
    ASSERT_TRUE(wait_until([&] { return Sleepyhead::sleeps(session); }));
    session.run("begin; " + kInsert);
    EXPECT_THROW(session.run("prepare transaction 'loud'"), std::exception);
    session.run("rollback");
    session.run("set outrider.bell = off; begin; " + kInsert);
    session.run("prepare transaction 'quiet'");
    session.run("commit prepared 'quiet'");
    session.run("set outrider.bell = on; " + kInsert);
    EXPECT_TRUE(sleepyhead.has_got(2));
}

TEST(PostgresDoorbell, WakeNotifyNeverLowersItAndPollNeverRaisesIt) {
    PostgresLog log;
    const PostgresSession session(log.conninfo);
    log.options.wake = postgres::Wake::poll;
    {
        const Sleepyhead poller(log);
        session.run(kInsert);
        EXPECT_TRUE(poller.has_got(1));
        EXPECT_EQ(session.value(kBell), "0");
    }
    log.options.wake = postgres::Wake::notify;
    const Sleepyhead listener(log);
    ASSERT_TRUE(wait_until([&] { return Sleepyhead::sleeps(session); }));
    session.run("do $$ begin for i in 1..100 loop " + kInsert + "; commit; end loop; end $$");
    EXPECT_TRUE(listener.has_got(100));
    EXPECT_EQ(session.value(kBell), "1");
}

// How long a look takes says nothing about what it has found: a server may be far away.
TEST(PostgresDoorbell, WhoeverPollsASlowServerLooksLessAndLess) {
    PostgresLog log;
    log.options.wake = postgres::Wake::poll;
    Notes notes;
    const std::unique_ptr<Waker> waker = log.driver()->make_waker(notes);
    SystemClock clock;
    int looks = 0;
    for (const MonoTime end = clock.now() + std::chrono::seconds(1); clock.now() < end; ++looks) {
        waker->wait(clock.now() + std::chrono::hours(1));
        std::this_thread::sleep_for(std::chrono::milliseconds(5));  // a look
        waker->looked(false);
    }
    EXPECT_LE(looks, 20);  // 1, 2, 4 and so on to 64 ms, then 100
}

// Rings follow each other slowly where the disk is slow, and yet all writers wait for them.
TEST(PostgresDoorbell, KnowsHowManyCommitsWaitForOneThatRings) {
    PostgresServer server;
    const PostgresLog log(4, server);
    const PostgresSession session(log.conninfo);
    auto line = postgres::BellLine::open(log.conninfo, *postgres::Names::of("outrider"));
    ASSERT_TRUE(line && line->raise());
    const auto waiting = [&] { return line->waiting().value(); };
    EXPECT_EQ(waiting(), 0);
    // A disk that does not answer: the first commit has the lock, the others wait for it.
    session.run("alter system set synchronous_standby_names = 'nobody'");
    session.run("select pg_reload_conf()");
    {
        std::vector<std::jthread> writers;
        for (int i = 0; i < 4; ++i) {
            // The server reads its settings when it gets to it.
            writers.emplace_back([&](const std::stop_token& stop) {
                const PostgresSession writer(log.conninfo);
                while (!stop.stop_requested()) writer.run(kInsert);
            });
        }
        EXPECT_TRUE(wait_until([&] { return waiting() == 3; }));
        session.run("alter system reset synchronous_standby_names");
        session.run("select pg_reload_conf()");
    }
    EXPECT_EQ(waiting(), 0);
}

TEST(RingRate, AsksAtTheSecondOfLateAndWheneverThereAreTwiceAsMany) {
    postgres::RingRate rate;
    const MonoTime start = SystemClock().now();
    const std::vector<std::pair<unsigned, Crowd>> steps = {
        {1, Crowd::none},     // 1
        {0, Crowd::none},     // 1
        {1, Crowd::perhaps},  // 2
        {1, Crowd::none},     // 3
        {2, Crowd::perhaps},  // 5
        {2, Crowd::none},     // 7
        {1, Crowd::perhaps},  // 8
        {8, Crowd::sure},     // 16
    };
    for (const auto& [rings, crowd] : steps) EXPECT_EQ(rate.count(rings, start), crowd) << rings;
    EXPECT_EQ(rate.count(1, start + std::chrono::milliseconds(30)), Crowd::none);
    EXPECT_FALSE(postgres::RingRate::is_too_many(1));
    EXPECT_TRUE(postgres::RingRate::is_too_many(2));
}

TEST(RingRate, HasTwoBounds) {
    postgres::RingRate rate;
    const MonoTime start = SystemClock().now();
    EXPECT_NE(rate.count(15, start), Crowd::sure);
    EXPECT_EQ(rate.count(1, start + std::chrono::milliseconds(20)), Crowd::sure);
    EXPECT_NE(rate.count(15, start + std::chrono::milliseconds(50)), Crowd::sure);
    EXPECT_TRUE(postgres::RingRate::is_quiet(0));
    EXPECT_TRUE(postgres::RingRate::is_quiet(20));
    EXPECT_FALSE(postgres::RingRate::is_quiet(21));
}

}  // namespace
}  // namespace outrider
