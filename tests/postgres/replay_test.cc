#include <atomic>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "core/dice.h"
#include "postgres/log.h"
#include "stores/postgres/registration.h"

// Replay from history, where a log of many lanes and late commits makes it hard.

namespace outrider {
namespace {

using Payloads = std::vector<std::string>;

ReplayFilter all_of(std::string destination = "all") {
    ReplayFilter filter;
    filter.destination = std::move(destination);
    return filter;
}

// Rule 8: what an open window has still to read, late rows with low numbers too, is neither
// replayed nor skipped.
TEST(PostgresReplay, SkipsNoUnreadLateRowOfAnOpenWindow) {
    const PostgresLog log(1);
    const PostgresSession session(log.conninfo);
    const PostgresSession late_a(log.conninfo);
    const PostgresSession late_b(log.conninfo);
    const auto store = log.open(everything());
    late_a.run("begin");
    insert(late_a, "a", "late-a");
    late_b.run("begin");
    insert(late_b, "b", "late-b");
    for (const char* payload : {"1", "2", "3"}) insert(session, "k", payload);
    EXPECT_EQ(take_all(*store), (Payloads{"1", "2", "3"}));
    late_a.run("commit");
    late_b.run("commit");
    insert(session, "k", "4");
    EXPECT_EQ(take(*store, 1), Payloads{"late-a"});
    ASSERT_EQ(session.value("select bool_or(s is not null) from outrider.cursor"), "t")
        << "the window must be open";

    const Result<std::optional<std::uint64_t>> replayed = log.admin()->replay(all_of(), false);
    ASSERT_TRUE(replayed) << replayed.error().text;
    EXPECT_EQ(**replayed, 4U) << "1, 2, 3 and late-a";
    Payloads got = take_all(*store, 1);
    std::sort(got.begin(), got.end());
    EXPECT_EQ(got, (Payloads{"1", "2", "3", "4", "late-a", "late-b"}));
}

TEST(PostgresReplay, TakesNothingOfATransactionThatIsStillOpen) {
    const PostgresLog log(1);
    const PostgresSession session(log.conninfo);
    const PostgresSession late(log.conninfo);
    const auto store = log.open(everything());
    late.run("begin");
    insert(late, "a", "late");
    insert(session, "k", "1");
    EXPECT_EQ(take_all(*store), Payloads{"1"});
    late.run("commit");
    EXPECT_EQ(**log.admin()->replay(all_of(), false), 1U) << "late is still to come by itself";
    Payloads got = take_all(*store);
    std::sort(got.begin(), got.end());
    EXPECT_EQ(got, (Payloads{"1", "late"}));
}

// A replay that dies half way: what it has done of a lane is whole, the rest untouched.
TEST(PostgresReplay, LosesNothingWhenItDiesBetweenTwoLanes) {
    const PostgresLog log(4);
    const PostgresSession session(log.conninfo);
    for (int i = 0; i < 40; ++i) insert(session, std::to_string(i % 20), std::to_string(i));
    const auto store = log.open(everything());
    ASSERT_EQ(take_all(*store).size(), 40U);
    const Result<postgres::Names> names = postgres::Names::of("outrider");
    const std::string id = session.value("select id from outrider.destination");
    const std::string lock = std::to_string(postgres::lane_lock(*names, std::stoll(id), 2));
    session.run("select pg_advisory_lock(" + lock + ")");  // a relay in mid-turn
    auto replay =
        std::async(std::launch::async, [&log] { return log.admin()->replay(all_of(), false); });
    const std::string waiting = "from pg_locks where locktype = 'advisory' and not granted";
    while (session.value("select count(*) " + waiting) == "0") {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    session.run("select pg_terminate_backend(pid) " + waiting);
    const auto died = replay.get();
    ASSERT_FALSE(died);
    EXPECT_NE(died.error().text.find("are on their way, then"), std::string::npos)
        << died.error().text;
    session.run("select pg_advisory_unlock(" + lock + ")");
    const std::string parked = session.value("select count(*) from outrider.parked");
    const std::string two_lanes = session.value(
        "select count(*) from outrider.message where outrider.lane_of(key, seq) in (0, 1)"
    );
    EXPECT_EQ(parked, two_lanes) << "whole lanes or nothing of them";
    EXPECT_EQ(take_all(*store).size(), std::stoul(parked));
    EXPECT_EQ(**log.admin()->replay(all_of(), false), 40U) << "asked again, it does all of it";
    EXPECT_EQ(take_all(*store).size(), 40U);
}

// Relays that die all the time, a writer that goes on, and a replay in the middle.
class ReplayStorm {
public:
    ReplayStorm() : log_(4), session_(log_.conninfo) {}

    void run() {
        for (int i = 0; i < kOld; ++i) insert(session_, key_of(i), std::to_string(i));
        const auto first = log_.open(everything());
        ASSERT_EQ(take_all(*first, 500).size(), static_cast<std::size_t>(kOld));
        std::vector<std::thread> relays;
        for (std::uint64_t i = 0; i < 3; ++i) relays.emplace_back([this, i] { relay(i); });
        std::thread writer([this] {
            const PostgresSession session(log_.conninfo);
            for (int i = kOld; i < kOld + kNew; ++i) insert(session, key_of(i), std::to_string(i));
        });
        const auto replayed = log_.admin()->replay(all_of(), false);
        EXPECT_TRUE(replayed && **replayed >= static_cast<std::uint64_t>(kOld));
        writer.join();
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (!has_all() && std::chrono::steady_clock::now() < deadline) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        stop_ = true;
        for (std::thread& relay : relays) relay.join();
    }

    // Of each key: what was replayed comes once more, in its order; nothing that was new when the
    // replay came to its lane stands in between.
    void judge() {
        std::map<std::string, int> last_old;
        std::set<std::string> seen;
        EXPECT_TRUE(has_all());
        for (const std::string& payload : delivered_) {
            const int number = std::stoi(payload);
            if (!seen.insert(payload).second || number >= kOld) continue;
            auto [last, is_first] = last_old.try_emplace(key_of(number), -1);
            EXPECT_GT(number, last->second) << "order of key " << key_of(number);
            EXPECT_TRUE(is_first || number == last->second + kKeys) << "a gap in a key";
            last->second = number;
        }
    }

private:
    static constexpr int kOld = 600;
    static constexpr int kNew = 300;
    static constexpr int kKeys = 20;

    static std::string key_of(int number) { return std::to_string(number % kKeys); }

    bool has_all() {
        const std::lock_guard lock(mutex_);
        return std::set(delivered_.begin(), delivered_.end()).size() == kOld + kNew;
    }

    void relay(std::uint64_t number) {
        SeededDice dice(number + 1);
        Destination destination = everything();
        destination.workers = 3;
        auto store = log_.open(destination);
        while (!stop_) {
            Result<Batch> batch = store->claim({5, 1000});
            ASSERT_TRUE(batch) << batch.error().text;
            if (!batch->hold) continue;
            {
                const std::lock_guard lock(mutex_);
                for (const Envelope& e : batch->envelopes) {
                    if (!e.blocked) delivered_.emplace_back(e.payload);
                }
            }
            if (dice.chance(0.1)) {  // it dies between publish and settle
                batch->hold.reset();
                store = log_.open(destination);
                continue;
            }
            const Result<void> settled = settle(*store, std::move(batch).value());
            ASSERT_TRUE(settled) << settled.error().text;
        }
    }

    // Everything is done, but what is held back waits behind its key, as a turn would have it.
    static Result<void> settle(Store& store, Batch batch) {
        std::vector<Settlement> settlements(batch.envelopes.size());
        for (std::size_t i = 0; i < settlements.size(); ++i) {
            const Envelope& envelope = batch.envelopes[i];
            settlements[i].fate = envelope.blocked ? Fate::again : Fate::done;
            settlements[i].park_key = envelope.order_key;
            settlements[i].due_at = batch.now;
        }
        return store.settle(std::move(batch), settlements);
    }

    PostgresLog log_;
    PostgresSession session_;
    std::atomic<bool> stop_ = false;
    std::mutex mutex_;
    Payloads delivered_;
};

TEST(PostgresReplay, HoldsOrderWhileRelaysDieAndWritersGoOn) {
    ReplayStorm storm;
    storm.run();
    storm.judge();
}

}  // namespace
}  // namespace outrider
