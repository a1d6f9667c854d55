#include <csignal>

#include <gtest/gtest.h>

#include "postgres/short_cut.h"

// The server crashes, at a moment when the write-ahead log is not on disk to its end.

namespace outrider {
namespace {

using short_cut::draw_id;
using Payloads = short_cut::Payloads;

class PostgresCrash : public ::testing::Test {
protected:
    // Nobody flushes what a commit did not.
    void hold_back_wal() {
        const PostgresSession session(log_->conninfo);
        session.run("checkpoint");
        const std::string writer = " from pg_stat_activity where backend_type = 'walwriter'";
        wal_writer_ = std::stoi(session.value("select pid" + writer));
        ASSERT_EQ(::kill(wal_writer_, SIGSTOP), 0);
        // In the middle of a flush it would keep the lock that every other flush needs.
        while (session.value("select wait_event" + writer) != "WalWriterMain") {
            ASSERT_EQ(::kill(wal_writer_, SIGCONT), 0);
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            ASSERT_EQ(::kill(wal_writer_, SIGSTOP), 0);
        }
    }

    // One process dies, so the server ends all others, forgets what it had in memory, and recovers.
    void crash() {
        const PostgresSession session(log_->conninfo);
        ASSERT_EQ(::kill(wal_writer_, SIGKILL), 0);
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        bool crashed = false;
        while (std::chrono::steady_clock::now() < deadline) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            try {
                if (!crashed) session.run("select 1");
                if (crashed) PostgresSession(log_->conninfo).run("select 1");
                if (crashed) return;
            } catch (const std::exception&) {
                crashed = true;
            }
        }
        FAIL() << "the server does not come back";
    }

    [[nodiscard]] std::unique_ptr<Store> open(postgres::Settle settle) const {
        postgres::StoreOptions options = log_->options;
        options.settle = settle;
        auto opened = postgres::make_driver(options)->open(everything());
        if (!opened) throw std::runtime_error(opened.error().text);
        return std::move(opened).value();
    }

    // Delivers ten messages, crashes, and returns what is delivered afterwards.
    Payloads deliver_around_a_crash(postgres::Settle settle) {
        {
            const auto store = open(settle);
            const PostgresSession session(log_->conninfo);
            for (int i = 0; i < 10; ++i) insert(session, "k", std::to_string(i));
            hold_back_wal();
            EXPECT_EQ(take_all(*store).size(), 10U);
        }
        crash();
        return take_all(*open(settle));
    }

    // Nobody else writes, and nobody flushes to make room.
    static PostgresServer& server() {
        static PostgresServer server("autovacuum = off\nbgwriter_lru_maxpages = 0");
        return server;
    }

    std::unique_ptr<PostgresLog> log_ = std::make_unique<PostgresLog>(1, server());
    pid_t wal_writer_ = 0;
};

TEST_F(PostgresCrash, RepeatsWhatAFastSettleHadNotOnDisk) {
    const Payloads repeated = deliver_around_a_crash(postgres::Settle::fast);
    Payloads all;
    for (int i = 0; i < 10; ++i) all.push_back(std::to_string(i));
    EXPECT_EQ(repeated, all) << "the promise says so: in order, and nothing but what was settled";
}

TEST_F(PostgresCrash, RepeatsNothingThatWasSettledDurably) {
    EXPECT_TRUE(deliver_around_a_crash(postgres::Settle::durable).empty());
}

// Ids that end with the crash, and ids that left little trace of themselves: the settle's own is
// above whatever its snapshot knew, so none is handed out a second time below a cursor.
TEST_F(PostgresCrash, FindsWhatIsWrittenAfterwards) {
    {
        const auto store = open(postgres::Settle::durable);
        const PostgresSession other(log_->conninfo);
        const PostgresSession never(log_->conninfo);
        insert(other, "k", "1");
        never.run("begin");
        insert(never, "k", "never");
        hold_back_wal();
        for (int i = 0; i < 20; ++i) draw_id(other);
        EXPECT_EQ(take_all(*store), Payloads{"1"});
        never.run("savepoint s");
        insert(never, "k", "never");
        for (int i = 0; i < 20; ++i) draw_id(other);
    }
    crash();
    insert(PostgresSession(log_->conninfo), "k", "2");
    EXPECT_EQ(take_all(*open(postgres::Settle::durable)), Payloads{"2"});
}

}  // namespace
}  // namespace outrider
