#include <chrono>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "postgres/log.h"
#include "stores/postgres/sql.h"
#include "stores/postgres/status.h"

// The claim leans on its index whatever the statistics say: right after a truncation they say
// that a segment is empty, and a planner left to itself would read and sort all of a backlog for
// every batch. Judged by the rows that the server has touched.

namespace outrider {
namespace {

constexpr int kBacklog = 50'000;

class PostgresPlan : public ::testing::Test {
protected:
    PostgresPlan() : session(log.conninfo) {
        session.run("alter table outrider.message_1 set (autovacuum_enabled = off)");
        session.run("analyze outrider.message_1");
        wait_for_sessions();  // whoever made the log tells of its own scans when it ends
    }

    void write_backlog() const {
        session.run(
            "insert into outrider.message (topic, key, payload) select 't', 'k' || i % 500, 'x' "
            "from generate_series(1, " +
            std::to_string(kBacklog) + ") i"
        );
        ASSERT_EQ(
            session.value(
                "select reltuples <= 0 from pg_class where oid = 'outrider.message_1'::regclass"
            ),
            "t"
        ) << "the statistics must be stale";
    }

    // What a session has touched is counted when it has ended.
    struct Touched {
        int scans = 0;
        int rows = 0;
    };
    [[nodiscard]] Touched touched(const std::string& table = "message_1") const {
        session.run("select pg_stat_clear_snapshot()");
        const auto count = [&](const std::string& column) {
            return std::stoi(session.value(
                "select " + column + " from pg_stat_user_tables where relid = 'outrider." + table +
                "'::regclass"
            ));
        };
        return {count("seq_scan"), count("seq_tup_read + idx_tup_fetch")};
    }

    // Until every other session has ended, and its counts are there.
    void wait_for_sessions() const {
        const std::string others =
            "select count(*) from pg_stat_activity where datname = current_database() and "
            "backend_type = 'client backend' and pid <> pg_backend_pid()";
        const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
        while (session.value(others) != "0") {
            if (std::chrono::steady_clock::now() > end) throw std::runtime_error("a session stays");
        }
        // Before version 15 a process of its own collects them, and writes twice a second.
        const bool collected = std::stoi(session.value("show server_version_num")) < 150'000;
        if (collected) std::this_thread::sleep_for(std::chrono::seconds(2));
    }

    PostgresLog log{16};
    PostgresSession session;
};

TEST_F(PostgresPlan, ReadsABacklogByNumber) {
    const Touched before = touched();
    {
        const auto store = log.open(everything());
        insert(session, "k", "first");
        EXPECT_EQ(take(*store).size(), 1U) << "planned while there was next to nothing";
        write_backlog();
        EXPECT_EQ(take(*store, 1000).size(), 1000U);
    }
    wait_for_sessions();
    const Touched after = touched();
    EXPECT_EQ(after.scans, before.scans);
    EXPECT_GE(after.rows - before.rows, 1000);
    EXPECT_LE(after.rows - before.rows, 5000);
}

// What was written before the transaction began, or rather before the window in which it was seen
// first, is not read again.
TEST_F(PostgresPlan, LooksForALateRowNoFurtherBackThanItsTransaction) {
    {
        write_backlog();
        const auto store = log.open(everything());
        EXPECT_EQ(take_all(*store, 10'000).size(), static_cast<std::size_t>(kBacklog));
        const PostgresSession writer(log.conninfo);
        writer.run("begin");
        insert(writer, "late", "late");
        for (int i = 0; i < 200; ++i) insert(session, "k" + std::to_string(i), "soon");
        EXPECT_EQ(take_all(*store, 10'000).size(), 200U);
        writer.run("commit");
    }
    wait_for_sessions();
    const Touched before = touched();
    {
        const auto store = log.open(everything());
        EXPECT_EQ(take_all(*store), std::vector<std::string>{"late"});
    }
    wait_for_sessions();
    const Touched after = touched();
    EXPECT_EQ(after.scans, before.scans);
    // The floor of a lane may lie ten thousand numbers behind.
    EXPECT_LE(after.rows - before.rows, 12'000);
}

// An exists that is planned while nothing is parked becomes a hash of all that is parked later.
TEST_F(PostgresPlan, LooksUpOnlyTheKeysOfWhatItReads) {
    session.run("alter table outrider.parked_key set (autovacuum_enabled = off)");
    constexpr int kParked = 20'000;
    {
        const auto store = log.open(everything());
        insert(session, "k", "first");
        EXPECT_EQ(take(*store).size(), 1U) << "planned while nothing was parked";
        session.run(
            "insert into outrider.parked_key (destination, order_key, lane, due_at) select 1, i, "
            "i % 16, now() + interval '1 hour' from generate_series(1, " +
            std::to_string(kParked) + ") i"
        );
        insert(session, "k", "second");
        EXPECT_EQ(take(*store), std::vector<std::string>{"second"});
    }
    wait_for_sessions();
    EXPECT_LE(touched("parked_key").rows, kParked / 10);
}

// What was delivered and kept is no business of `status` and of the doctor's look for lanes that
// are stuck, with one order per key or one for all.
TEST_F(PostgresPlan, CountsWhatIsPendingWithoutReadingTheHistory) {
    for (const Order order : {Order::key, Order::global}) {
        Destination destination = everything(order == Order::key ? "keys" : "global");
        destination.order = order;
        const auto store = log.open(destination);
        if (order == Order::key) write_backlog();
        EXPECT_GE(take_all(*store, 10'000).size(), static_cast<std::size_t>(kBacklog));
        insert(session, "k", "pending");
    }
    wait_for_sessions();
    const Touched before = touched();
    {
        const auto names = postgres::Names::of("outrider").value();
        const auto connection = postgres::Connection::open(log.conninfo).value();
        for (const int id : {1, 2}) {
            const auto rows = postgres::read_pending(
                connection,
                names,
                postgres::sql::status_pending,
                {.whole = id == 1 ? "c.whole" : "true", .topics = "$2", .limit = "$3"},
                postgres::Parameters()
                    .add(std::int64_t{id})
                    .add(std::string_view("{%}"))
                    .add(std::int64_t{1000})
            );
            ASSERT_TRUE(rows) << rows.error().text;
            EXPECT_EQ(rows->integer(0, 0), 3 - id);
        }
        const auto stuck = postgres::read_pending(
            connection,
            names,
            postgres::sql::doctor_stuck,
            {.whole = "d.ordering = 'global'", .topics = "t.patterns", .limit = "1"}
        );
        ASSERT_TRUE(stuck) << stuck.error().text;
    }
    wait_for_sessions();
    const Touched after = touched();
    EXPECT_EQ(after.scans, before.scans);
    EXPECT_LE(after.rows - before.rows, 1000);
}

// Who gives no headers pays for no check of them: once planned, their default is a constant.
TEST_F(PostgresPlan, HeadersThatNobodyGivesAreNotChecked) {
    session.run(
        "create function pg_temp.plan(text) returns setof text language plpgsql as "
        "$f$ begin return query execute 'explain (verbose) insert into outrider.message ' || $1; "
        "end $f$"
    );
    const auto is_constant = [&](const std::string& columns_and_values) {
        return session.value(
            "select bool_or(line like '%NULL::outrider.headers%') from pg_temp.plan($$" +
            columns_and_values + "$$) as line"
        );
    };
    EXPECT_EQ(is_constant("(topic, payload) values ('t', '')"), "t");
    EXPECT_EQ(is_constant("(topic, payload, headers) values ('t', '', null)"), "f");
}

}  // namespace
}  // namespace outrider
