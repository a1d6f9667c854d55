#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "core/dice.h"
#include "postgres/log.h"
#include "support/environment.h"

// Transactions that commit in another order than they drew ids and numbers: what readers by number
// lose.

namespace outrider {
namespace {

using Payloads = std::vector<std::string>;

TEST(PostgresLateCommit, FindsTheFirstMessageEver) {
    const PostgresLog log;
    const auto store = log.open(everything());
    EXPECT_TRUE(take_all(*store).empty());
    insert(PostgresSession(log.conninfo), "k", "first");
    EXPECT_EQ(take_all(*store), Payloads{"first"});
}

TEST(PostgresLateCommit, FindsARowWhoseNumberWasPassedBeforeItCommitted) {
    const PostgresLog log(1);
    const PostgresSession early(log.conninfo);
    const PostgresSession late(log.conninfo);
    const auto store = log.open(everything());
    late.run("begin");
    insert(late, "a", "late");
    insert(early, "b", "early");
    EXPECT_EQ(take_all(*store), Payloads{"early"});
    for (int i = 0; i < 5; ++i) insert(early, "b", std::to_string(i));
    EXPECT_EQ(take_all(*store).size(), 5U);
    late.run("commit");
    EXPECT_EQ(take_all(*store), Payloads{"late"});
    EXPECT_TRUE(take_all(*store).empty());
}

TEST(PostgresLateCommit, FindsARowOfAnIdDrawnEarlyAndANumberDrawnLate) {
    const PostgresLog log(1);
    const PostgresSession other(log.conninfo);
    const PostgresSession slow(log.conninfo);
    const auto store = log.open(everything());
    slow.run("begin");
    slow.run("select pg_current_xact_id()");
    insert(other, "b", "1");
    EXPECT_EQ(take_all(*store), Payloads{"1"});
    insert(other, "b", "2");
    insert(slow, "a", "slow");
    insert(other, "b", "3");
    EXPECT_EQ(take_all(*store), (Payloads{"2", "3"}));
    slow.run("commit");
    EXPECT_EQ(take_all(*store), Payloads{"slow"});
}

TEST(PostgresLateCommit, FindsPreparedTransactionsWhenTheyCommit) {
    const PostgresLog log(1);
    const PostgresSession session(log.conninfo);
    const auto store = log.open(everything());
    session.run("begin");
    insert(session, "a", "prepared");
    session.run("prepare transaction 'p1'");
    insert(session, "b", "1");
    EXPECT_EQ(take_all(*store), Payloads{"1"});
    session.run("commit prepared 'p1'");
    EXPECT_EQ(take_all(*store), Payloads{"prepared"});
}

// Everything at once: writers with early ids, long transactions, savepoints, rollbacks and several
// keys; relays with a batch limit of 3 that lose connections; rotation and truncation all the time.
class Storm {
public:
    Storm() : log_(4) {
        const PostgresSession session(log_.conninfo);
        session.run("create table counter (key int primary key, n int not null)");
        session.run("create table other (x int)");
        session.run("insert into counter select g, 0 from generate_series(0, 19) g");
    }

    void run(std::chrono::seconds length) {
        std::vector<std::thread> writers;
        std::vector<std::thread> others;
        for (std::uint64_t i = 0; i < 6; ++i) writers.emplace_back([this, i] { write(i); });
        for (std::uint64_t i = 0; i < 3; ++i) others.emplace_back([this, i] { relay(i); });
        others.emplace_back([this] { clean(); });
        std::this_thread::sleep_for(length);
        // A busy machine writes less in that time, and gets more of it.
        const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(2);
        while (!is_a_storm() && std::chrono::steady_clock::now() < give_up) {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
        finish_at_ = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        writing_ = false;
        for (std::thread& writer : writers) writer.join();
        written_ = true;
        for (std::thread& other : others) other.join();
    }

    void judge() {
        const PostgresSession session(log_.conninfo);
        EXPECT_GT(committed_.size(), kCommitted);
        std::set<std::string> seen;
        std::map<int, int> last;
        std::size_t repeats = 0;
        for (const std::string& payload : delivered_) {
            const int key = std::stoi(payload);
            const int position = std::stoi(payload.substr(payload.find(':') + 1));
            ASSERT_TRUE(committed_.contains(payload)) << "phantom " << payload;
            if (!seen.insert(payload).second) {
                ++repeats;
                continue;
            }
            EXPECT_EQ(position, last[key] + 1) << "order or loss of key " << key;
            last[key] = position;
        }
        EXPECT_EQ(seen.size(), committed_.size());
        EXPECT_LE(repeats, faults_ * 3);
        std::printf(
            "  %zu messages, %zu repeated after %zu faults, %zu segments emptied\n",
            committed_.size(),
            repeats,
            faults_.load(),
            emptied_.load()
        );
        EXPECT_GT(emptied_, 0U);
    }

private:
    static constexpr std::size_t kCommitted = 500;

    [[nodiscard]] bool is_a_storm() {
        const std::lock_guard lock(mutex_);
        return committed_.size() > kCommitted && emptied_ > 0;
    }

    void write(std::uint64_t number) {
        const PostgresSession session(log_.conninfo);
        SeededDice dice(number + 1);
        while (writing_) {
            session.run("begin");
            if (dice.chance(0.5)) session.run("insert into other values (1)");
            if (dice.chance(0.3)) nap(dice, 20);
            std::set<std::string> written;
            std::set<std::uint64_t> keys;
            for (std::uint64_t i = 0; i <= dice.pick(3); ++i) keys.insert(dice.pick(20));
            for (const std::uint64_t key : keys) write_key(session, dice, key, written);
            if (dice.chance(0.02)) nap(dice, 500);
            const bool rolls_back = dice.chance(0.15);
            if (rolls_back) {
                session.run("rollback");
                continue;
            }
            {
                const std::lock_guard lock(mutex_);
                committed_.insert(written.begin(), written.end());
            }
            session.run("commit");
        }
    }

    // The row lock of the counter, then the message: promise 3.
    static void write_key(
        const PostgresSession& session,
        SeededDice& dice,
        std::uint64_t key,
        std::set<std::string>& written
    ) {
        const bool savepoint = dice.chance(0.2);
        if (savepoint) session.run("savepoint s");
        const std::string name = std::to_string(key);
        const std::string position =
            session.value("update counter set n = n + 1 where key = " + name + " returning n");
        insert(session, name, name + ":" + position);
        if (savepoint && dice.chance(0.5)) {
            session.run("rollback to s");
        } else {
            written.insert(name + ":" + position);
        }
    }

    static void nap(SeededDice& dice, std::uint64_t millis_max) {
        std::this_thread::sleep_for(std::chrono::milliseconds(dice.pick(millis_max)));
    }

    bool is_over() {
        if (!written_) return false;
        const std::lock_guard lock(mutex_);
        const std::set<std::string> seen(delivered_.begin(), delivered_.end());
        return seen.size() == committed_.size() || std::chrono::steady_clock::now() > finish_at_;
    }

    // A relay whose broker takes everything, and which now and then loses its turn between publish
    // and settle, and its session with it.
    void relay(std::uint64_t number) {
        SeededDice dice(number + 100);
        Destination destination = everything();
        destination.workers = 3;
        auto store = log_.open(destination);
        while (!is_over()) {
            Result<Batch> batch = store->claim({3, 1000});
            ASSERT_TRUE(batch) << batch.error().text;
            if (!batch->hold) continue;
            {
                const std::lock_guard lock(mutex_);
                for (const Envelope& e : batch->envelopes) delivered_.emplace_back(e.payload);
            }
            if (dice.chance(0.02)) {
                ++faults_;
                batch->hold.reset();
                store = log_.open(destination);
                continue;
            }
            Settlement done;
            done.fate = Fate::done;
            const std::vector<Settlement> settlements(batch->envelopes.size(), done);
            const Result<void> settled = store->settle(std::move(batch).value(), settlements);
            ASSERT_TRUE(settled) << settled.error().text;
        }
    }

    // Retention zero: every round rotates if it can, and truncates what everyone has passed.
    void clean() {
        const auto admin = log_.admin();
        const PostgresSession session(log_.conninfo);
        while (!is_over()) {
            session.run("update outrider.segment set opened_at = opened_at - interval '1 hour'");
            const Result<std::uint64_t> emptied = admin->clean_up(Duration::zero(), 1000);
            ASSERT_TRUE(emptied) << emptied.error().text;
            emptied_ += *emptied;
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
    }

    PostgresLog log_;
    std::atomic<bool> writing_ = true;
    std::atomic<bool> written_ = false;
    std::chrono::steady_clock::time_point finish_at_;
    std::mutex mutex_;
    std::set<std::string> committed_;
    Payloads delivered_;
    std::atomic<std::size_t> faults_ = 0;
    std::atomic<std::size_t> emptied_ = 0;
};

TEST(PostgresLateCommit, LosesInventsAndReordersNothingInAStorm) {
    Storm storm;
    storm.run(std::chrono::seconds(number_from("STORM_SECONDS", 10)));
    storm.judge();
}

}  // namespace
}  // namespace outrider
