#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "postgres/short_cut.h"
#include "stores/postgres/registration.h"
#include "stores/postgres/sql.h"

// Two relays want the same lane.

namespace outrider {
namespace {

using Payloads = short_cut::Payloads;

void default_to_repeatable_read(const PostgresLog& log) {
    PostgresSession(log.conninfo)
        .run(
            "do $$begin execute format('alter database %I set default_transaction_isolation = "
            "''repeatable read''', current_database()); end$$"
        );
}

// A relay stands between its first statement and its lock while another one makes a whole turn.
// What cursor does it read?
class TwoRelays : public ::testing::Test {
protected:
    TwoRelays()
        : log_(1, short_cut::quiet_server()),
          session_(log_.conninfo),
          gate_(log_.conninfo),
          second_(std::move(postgres::Connection::open(log_.conninfo)).value()),
          first_(log_.open(everything())) {
        insert(session_, "k", "1");
        gate_.run("select pg_advisory_lock(42)");
    }

    [[nodiscard]] std::string newest_turn() const {
        return session_.value("select max(turn) from outrider.progress");
    }

    [[nodiscard]] std::string lane_lock() const {
        const auto names = postgres::Names::of("outrider", "now()");
        const std::string id = session_.value("select id from outrider.destination");
        return std::to_string(postgres::lane_lock(*names, std::stoll(id), 0));
    }

    // Runs the other relay's statements, which stop at the gate, and in the meantime a whole turn.
    void race(const std::function<void()>& other) {
        Result<Batch> batch = first_->claim({10, 1000});
        ASSERT_TRUE(batch);
        ASSERT_EQ(batch->envelopes.size(), 1U);
        std::thread thread(other);
        short_cut::wait_for_waiter(session_);
        Settlement done;
        done.fate = Fate::done;
        EXPECT_TRUE(first_->settle(std::move(batch).value(), std::vector<Settlement>{done}));
        gate_.run("select pg_advisory_unlock(42)");
        thread.join();
    }

    // The store's own statements in a transaction that begins like this; the turn that was read.
    std::string read_turn(const std::string& begin) {
        const auto run = [this](const std::string& sql, const postgres::Parameters& values = {}) {
            const Result<postgres::Rows> rows = second_.run(sql, values);
            EXPECT_TRUE(rows) << rows.error().text;
            return rows->count() == 0 ? "" : std::string(rows->bytes(0, 0));
        };
        run(begin);
        run("select pg_advisory_xact_lock_shared(42)");
        const std::string locks = "{" + lane_lock() + "}";
        run(std::string(postgres::sql::claim_lock),
            postgres::Parameters()
                .add(std::string_view(locks))
                .add(std::string_view("{0}"))
                .add(std::int64_t{1}));
        EXPECT_EQ(run("select current_setting('outrider.lanes')"), "{0}") << "the lane was free";
        std::string turn = run("select max(turn)::text from outrider.progress");
        run("rollback");
        return turn;
    }

    PostgresLog log_;
    PostgresSession session_;
    PostgresSession gate_;
    postgres::Connection second_;
    std::unique_ptr<Store> first_;
};

TEST_F(TwoRelays, LockAndReadInOneStatementReadAnOldCursor) {
    const std::string before = newest_turn();
    const std::string lock = lane_lock();
    std::string read;
    race([&] {
        read = PostgresSession(log_.conninfo)
                   .value(
                       "select case when pg_advisory_xact_lock_shared(42) is null then null "
                       "when pg_try_advisory_xact_lock(" +
                       lock + ") then (select max(turn) from outrider.progress) end"
                   );
    });
    EXPECT_EQ(read, before) << "it would deliver the same once more, without any fault";
    EXPECT_NE(newest_turn(), before);
}

TEST_F(TwoRelays, LockThenReadInRepeatableReadReadAnOldCursor) {
    const std::string before = newest_turn();
    std::string read;
    race([&] { read = read_turn("begin isolation level repeatable read"); });
    EXPECT_EQ(read, before) << "it would deliver the same once more, without any fault";
    EXPECT_NE(newest_turn(), before);
}

TEST_F(TwoRelays, LockThenReadInReadCommittedReadTheNewestCursor) {
    std::string read;
    race([&] { read = read_turn("begin isolation level read committed"); });
    EXPECT_EQ(read, newest_turn());
}

// What becomes of a destination is decided by one at a time: nobody leaves cursors without it.
TEST(PostgresLocks, RegistrationAndForgettingWaitForEachOther) {
    const PostgresLog log(4, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const PostgresSession gate(log.conninfo);
    const auto names = postgres::Names::of("outrider", "now()");
    const std::string lock = std::to_string(postgres::registration_lock(*names, "all"));
    gate.run("begin; select pg_advisory_xact_lock(" + lock + ")");
    std::thread relay([&] { EXPECT_TRUE(log.driver()->open(everything())); });
    short_cut::wait_for_waiter(session);
    EXPECT_EQ(session.value("select count(*) from outrider.cursor"), "0");
    gate.run("commit");
    relay.join();
    EXPECT_EQ(session.value("select count(*) from outrider.cursor"), "4");
    gate.run("begin; select pg_advisory_xact_lock(" + lock + ")");
    std::thread operator_([&] { EXPECT_TRUE(log.admin()->forget("all")); });
    short_cut::wait_for_waiter(session);
    gate.run("commit");
    operator_.join();
    EXPECT_EQ(session.value("select count(*) from outrider.cursor"), "0");
}

// Both have found the same dead letters, and one of them was quicker.
TEST(PostgresLocks, OperatorsCountWhatTheyHaveDone) {
    const PostgresLog log(1, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const auto store = log.open(everything());
    for (int i = 0; i < 5; ++i) insert(session, std::to_string(i), "x");
    Result<Batch> batch = store->claim({10, 1000});
    ASSERT_TRUE(batch);
    Settlement dead;
    dead.fate = Fate::dead;
    const std::vector<Settlement> settlements(batch->envelopes.size(), dead);
    ASSERT_TRUE(store->settle(std::move(batch).value(), settlements));
    const auto names = postgres::Names::of("outrider", "now()");
    const std::string id = session.value("select id from outrider.destination");
    const std::string lane = std::to_string(postgres::lane_lock(*names, std::stoll(id), 0));
    const PostgresSession turn(log.conninfo);
    turn.run("begin; select pg_advisory_xact_lock(" + lane + ")");
    std::uint64_t changed = 0;
    std::mutex mutex;
    const auto change = [&](bool replays) {
        const auto admin = log.admin();
        const auto count = replays ? admin->replay_dead({}) : admin->discard_dead({});
        const std::lock_guard hold(mutex);
        changed += count.value();
    };
    std::thread first(change, true);
    std::thread second(change, false);
    const std::string waiting =
        "select count(*) from pg_locks where locktype = 'advisory' and not granted";
    while (session.value(waiting) != "2") std::this_thread::yield();
    turn.run("commit");
    first.join();
    second.join();
    EXPECT_EQ(changed, 5U);
}

// Where repeatable read is the database's default.
TEST(PostgresLocks, TwoRelaysOnOneLaneDeliverEverythingOnceAndInOrder) {
    const PostgresLog log(1);
    default_to_repeatable_read(log);
    const PostgresSession session(log.conninfo);
    Payloads expected;
    session.run(
        "insert into outrider.message (topic, key, payload) "
        "select 't', 'k', i::text::bytea from generate_series(0, 599) i"
    );
    for (int i = 0; i < 600; ++i) expected.push_back(std::to_string(i));
    std::mutex mutex;
    Payloads delivered;
    std::vector<std::thread> relays;
    for (int i = 0; i < 2; ++i) {
        relays.emplace_back([&] {
            const auto store = log.open(everything());
            const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
            while (std::chrono::steady_clock::now() < deadline) {
                Result<Batch> batch = store->claim({3, 1000});
                ASSERT_TRUE(batch) << batch.error().text;
                const std::lock_guard lock(mutex);
                for (const Envelope& e : batch->envelopes) delivered.emplace_back(e.payload);
                if (delivered.size() >= 600 && batch->envelopes.empty()) return;
                if (!batch->hold) continue;
                Settlement done;
                done.fate = Fate::done;
                const std::vector<Settlement> settlements(batch->envelopes.size(), done);
                const Result<void> settled = store->settle(std::move(batch).value(), settlements);
                ASSERT_TRUE(settled) << settled.error().text;
            }
        });
    }
    for (std::thread& relay : relays) relay.join();
    EXPECT_EQ(delivered, expected);
}

// What the server itself was told, in the order in which it was told.
TEST(PostgresLocks, ATurnIsOneExplicitTransactionThatLocksBeforeItReads) {
    PostgresServer server("log_statement = 'all'\nlog_line_prefix = 'pid=%p '\nautovacuum = off");
    const PostgresLog log(4, server);
    const auto store = log.open(everything());
    insert(PostgresSession(log.conninfo), "k", "1");
    EXPECT_EQ(take(*store), Payloads{"1"});
    const std::string text = server.log();
    std::size_t at = text.rfind("begin isolation level read committed");
    ASSERT_NE(at, std::string::npos);
    const std::string line = text.substr(text.rfind('\n', at) + 1, 20);
    const std::string pid = line.substr(0, line.find(' ') + 1);
    for (const char* next :
         {"pg_try_advisory_xact_lock",
          "pg_current_snapshot()",
          "set local lock_timeout",
          "insert into \"outrider\".progress",
          ": commit"}) {
        const std::size_t found = text.find(next, at);
        ASSERT_NE(found, std::string::npos) << next << " does not follow";
        // A statement of several lines says its pid on the first.
        EXPECT_EQ(text.compare(text.rfind("pid=", found), pid.size(), pid), 0) << next;
        const std::string between = text.substr(at + 1, found - at - 1);
        for (const char* end : {": commit", ": rollback", ": begin"}) {
            EXPECT_EQ(between.find(end), std::string::npos) << end << " before " << next;
        }
        at = found;
    }
}

// Whoever reads the log holds back truncation, though it has no id: the doctor names it once it has
// been there for long.
TEST(PostgresLocks, WhoReadsTheLogIsFound) {
    const PostgresLog log(4, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const PostgresSession reader(log.conninfo);
    const PostgresSession other(log.conninfo);
    reader.run("begin; select count(*) from outrider.message");
    other.run("begin; select count(*) from outrider.destination");
    const auto holders = [&session](const std::string& seconds) {
        std::string sql(postgres::sql::doctor_holders);
        for (std::size_t at = sql.find("$1"); at != std::string::npos; at = sql.find("$1")) {
            sql.replace(at, 2, seconds);
        }
        return session.column(postgres::Names::fill(sql, "schema", "outrider"));
    };
    EXPECT_TRUE(holders("60").empty());
    const Payloads found = holders("0");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].find("pid " + reader.value("select pg_backend_pid()") + " of"), 0U);
}

}  // namespace
}  // namespace outrider
