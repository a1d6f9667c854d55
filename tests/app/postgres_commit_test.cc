// Commits on PostgreSQL that do not simply succeed: conflicts, deadlocks, and answers that are
// lost.

#include <atomic>
#include <barrier>
#include <thread>

#include <gtest/gtest.h>

#include "outrider/postgres_unit.h"
#include "outrider/pqxx.h"

#include "app/unit_suite.h"
#include "postgres/log.h"

namespace outrider {
namespace {

class PostgresCommit : public ::testing::Test {
protected:
    PostgresLog log;
    PostgresSession session{log.conninfo};
    PostgresSession observer{log.conninfo};

    void SetUp() override {
        session.run("create table orders (id int primary key, n int)");
        session.run("insert into orders values (1, 0), (2, 0)");
    }
    static void sql(PGconn* connection, const char* text) {
        postgres::check(PQexec(connection, text));
    }
    static Message identified(std::string payload) {
        Message message = app_message(std::move(payload));
        message.id = MessageId::generate();
        return message;
    }

    // What libpq and libpqxx say to somebody who had no answer to the commit of these messages.
    [[nodiscard]] CommitOutcome outcome(
        const std::string& transaction_id,
        const std::vector<Message>& messages
    ) const {
        try {
            postgres::throw_unanswered(transaction_id, messages, {}, "");
        } catch (const CommitUnknown& unknown) {
            const CommitOutcome outcome = outrider::resolve(observer.get(), unknown);
            pqxx::connection other(log.conninfo);
            EXPECT_EQ(outrider::resolve(other, unknown), outcome);
            return outcome;
        }
    }

    [[nodiscard]] std::string messages() const {
        return observer.value("select count(*) from outrider.message");
    }

    // Ends the session of whoever commits a row into orders, at its commit.
    void kill_at_commit() const {
        session.run(
            "create function die() returns trigger language plpgsql as "
            "'begin perform pg_terminate_backend(pg_backend_pid()); return null; end'"
        );
        session.run(
            "create constraint trigger die after insert on orders deferrable initially deferred "
            "for each row execute function die()"
        );
    }
};

TEST_F(PostgresCommit, TwoThatDeadlockBothFinish) {
    std::barrier both(2);
    std::atomic<int> runs = 0;
    const auto transfer = [&](const char* first, const char* second) {
        const PostgresSession mine(log.conninfo);
        mine.run("set deadlock_timeout = '50ms'");
        bool met = false;
        outrider::transactional(mine.get(), [&](auto& tx) {
            ++runs;
            sql(tx.handle(), first);
            if (!std::exchange(met, true)) both.arrive_and_wait();
            sql(tx.handle(), second);
            tx.enqueue(app_message("moved"));
        });
    };
    const char* one = "update orders set n = n + 1 where id = 1";
    const char* two = "update orders set n = n + 1 where id = 2";
    std::thread left([&] { transfer(one, two); });
    std::thread right([&] { transfer(two, one); });
    left.join();
    right.join();
    EXPECT_GE(runs, 3);
    EXPECT_EQ(observer.value("select sum(n) from orders"), "4");
    EXPECT_EQ(messages(), "2");
}

TEST_F(PostgresCommit, ASerializationFailureAtTheCommitItselfRunsAgain) {
    postgres::UnitOptions options;
    options.isolation = postgres::Isolation::serializable;
    int runs = 0;
    outrider::transactional(
        session.get(),
        [&](auto& tx) {
            // Write skew: each reads what the other writes, and no statement fails.
            sql(tx.handle(), "select sum(n) from orders");
            if (++runs == 1) {
                observer.run("begin isolation level serializable");
                observer.run("select sum(n) from orders");
                observer.run("update orders set n = 7 where id = 2");
            }
            sql(tx.handle(), "update orders set n = 7 where id = 1");
            tx.enqueue(app_message("run " + std::to_string(runs)));
            if (runs == 1) observer.run("commit");
        },
        options
    );
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(
        observer.value("select convert_from(payload, 'UTF8') from outrider.message"), "run 2"
    );
}

TEST_F(PostgresCommit, AConstraintThatFailsAtTheCommitIsAFailureAndNothingIsWritten) {
    session.run("create table line (o int references orders deferrable initially deferred)");
    auto unit = outrider::begin(session.get());
    sql(unit.handle(), "insert into line values (99)");
    unit.enqueue(app_message("a"));
    const std::string text = app_failure([&] { unit.commit(); });
    EXPECT_SAYS(text, "foreign key");
    EXPECT_EQ(messages(), "0");
    EXPECT_EQ(PQtransactionStatus(session.get()), PQTRANS_IDLE);
}

TEST_F(PostgresCommit, AnErrorThatNobodyLookedAtIsNotCommittedOver) {
    auto unit = outrider::begin(session.get());
    PQclear(PQexec(unit.handle(), "select 1/0"));
    unit.enqueue(app_message("a"));
    EXPECT_SAYS(app_failure([&] { unit.commit(); }), "its result was not looked at");
    EXPECT_EQ(messages(), "0");
    auto next = outrider::begin(session.get());  // the connection is fit for another
    next.commit();
}

TEST_F(PostgresCommit, AUnitLeftInPipelineModeIsRolledBack) {
    auto unit = outrider::begin(session.get());
    ASSERT_EQ(PQenterPipelineMode(unit.handle()), 1);
    const char* insert = "insert into orders values (3, 0)";
    PQsendQueryParams(unit.handle(), insert, 0, nullptr, nullptr, nullptr, nullptr, 0);
    unit.enqueue(app_message("a"));
    EXPECT_SAYS(app_failure([&] { unit.commit(); }), "in pipeline mode");
    EXPECT_EQ(PQtransactionStatus(session.get()), PQTRANS_IDLE);
    EXPECT_EQ(observer.value("select count(*) from orders"), "2");
    auto next = outrider::begin(session.get());  // the connection is fit for another
    next.commit();
}

TEST_F(PostgresCommit, AUniqueViolationIsNotRunAgain) {
    int runs = 0;
    const auto work = [&](auto& tx) {
        ++runs;
        sql(tx.handle(), "insert into orders values (1, 0)");
    };
    EXPECT_SAYS(app_failure([&] { outrider::transactional(session.get(), work); }), "duplicate");
    EXPECT_EQ(runs, 1);
}

TEST_F(PostgresCommit, YourOwnExceptionsCanAskForAnotherTry) {
    postgres::UnitOptions options;
    options.repeat.delay_first = Duration(1);
    options.repeat.also = [](const std::exception& error) {
        return std::string_view(error.what()) == "mine";
    };
    int runs = 0;
    const auto work = [&](auto& tx) {
        tx.enqueue(app_message("a"));
        if (++runs < 3) throw std::runtime_error("mine");
    };
    outrider::transactional(session.get(), work, options);
    EXPECT_EQ(runs, 3);
    EXPECT_EQ(messages(), "1");
}

TEST_F(PostgresCommit, AnUnansweredCommitThatDidNotHappenIsResolved) {
    kill_at_commit();
    int runs = 0;
    const auto work = [&](auto& tx) {
        ++runs;
        sql(tx.handle(), "insert into orders values (3, 0)");
        tx.enqueue(app_message("a"));
    };
    try {
        outrider::transactional(session.get(), work);
        FAIL() << "it committed";
    } catch (const CommitUnknown& unknown) {
        EXPECT_FALSE(unknown.transaction_id().empty());
        EXPECT_SAYS(std::string(unknown.what()), "commit_outcome('" + unknown.transaction_id());
        PQreset(session.get());
        EXPECT_EQ(outrider::resolve(session.get(), unknown), CommitOutcome::rolled_back);
    }
    EXPECT_EQ(runs, 1);  // never again by itself
    EXPECT_EQ(messages(), "0");
}

TEST_F(PostgresCommit, AnUnansweredCommitOfLibpqxxIsResolved) {
    kill_at_commit();
    pqxx::connection connection(log.conninfo);
    auto unit = outrider::begin(connection);
    unit->exec("insert into orders values (3, 0)");
    unit.enqueue(app_message("a"));
    try {
        unit.commit();
        FAIL() << "it committed";
    } catch (const CommitUnknown& unknown) {
        pqxx::connection fresh(log.conninfo);
        EXPECT_EQ(outrider::resolve(fresh, unknown), CommitOutcome::rolled_back);
    }
    EXPECT_SAYS(app_failure([&] { unit.commit(); }), "its commit was not answered");
    EXPECT_EQ(messages(), "0");
}

TEST_F(PostgresCommit, ALostConnectionBeforeTheCommitIsAPlainFailure) {
    auto unit = outrider::begin(session.get());
    sql(unit.handle(), "insert into orders values (3, 0)");
    unit.enqueue(app_message("a"));
    observer.run(
        "select pg_terminate_backend(" + std::to_string(PQbackendPID(session.get())) + ", 60000)"
    );
    try {
        unit.commit();
        FAIL() << "it committed";
    } catch (const CommitUnknown&) {
        FAIL() << "nothing was in doubt";
    } catch (const Failure& failure) {
        EXPECT_EQ(failure.remedy(), Remedy::wait) << failure.what();
    }
    EXPECT_EQ(messages(), "0");
}

TEST_F(PostgresCommit, ATransactionOfAnotherServerStaysUnknown) {
    EXPECT_EQ(outcome("99999999999", {identified("a")}), CommitOutcome::unknown);
    EXPECT_EQ(outcome("99999999999", {}), CommitOutcome::unknown);
    EXPECT_EQ(outrider::resolve(session.get(), CommitUnknown({}, "")), CommitOutcome::unknown);
}

TEST_F(PostgresCommit, ATransactionThatStillRunsIsInProgress) {
    session.run("begin");
    const std::string id = session.value("select pg_current_xact_id()::text");
    EXPECT_EQ(outcome(id, {identified("a")}), CommitOutcome::in_progress);
    session.run("rollback");
    EXPECT_EQ(outcome(id, {identified("a")}), CommitOutcome::rolled_back);
}

// As after a crash that has lost the commit: somebody else gets its number, and commits.
TEST_F(PostgresCommit, ANumberThatSomebodyElseHasGotProvesNothing) {
    session.run("begin");
    const std::string id = session.value("select pg_current_xact_id()::text");
    const Message message = identified("a");
    outrider::enqueue(session.get(), message);
    session.run("commit");
    EXPECT_EQ(outcome(id, {message}), CommitOutcome::committed);
    EXPECT_EQ(outcome(id, {identified("a")}), CommitOutcome::unknown);
    EXPECT_EQ(outcome(id, {}), CommitOutcome::unknown);
}

TEST_F(PostgresCommit, AWriterWithoutTheRightToReadMayAsk) {
    session.run("create role asker");
    session.run("grant usage on schema outrider to asker");
    session.run("begin");
    const std::string id = session.value("select pg_current_xact_id()::text");
    const Message message = identified("a");
    outrider::enqueue(session.get(), message);
    session.run("commit");
    observer.run("set role asker");
    EXPECT_EQ(outcome(id, {message}), CommitOutcome::committed);
    observer.run("reset role");
}

// The answer is lost after the commit: the server waits for a standby that never comes, with the
// transaction safe on its own disk, and the session is ended meanwhile.
TEST(PostgresUnanswered, ACommitThatHappenedIsResolved) {
    PostgresServer server("synchronous_standby_names = 'nobody'\nsynchronous_commit = local");
    const std::string conninfo = server.conninfo("postgres");
    postgres::StoreOptions store;
    store.conninfo = conninfo;
    ASSERT_TRUE((*postgres::make_driver(store)->open_admin(StoreDriver::IfMissing::fail))->migrate()
    );
    const PostgresSession session(conninfo);
    const PostgresSession observer(conninfo);
    std::thread killer([&] {
        const PostgresSession mine(conninfo);  // a connection belongs to one thread
        const std::string wait =
            "select count(pg_terminate_backend(pid)) from pg_stat_activity where wait_event = "
            "'SyncRep'";
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (mine.value(wait) == "0" && std::chrono::steady_clock::now() < deadline) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    });
    auto unit = outrider::begin(session.get());
    postgres::check(PQexec(unit.handle(), "set local synchronous_commit = on"));
    unit.enqueue(app_message("a"));
    try {
        unit.commit();
        ADD_FAILURE() << "it was answered";
    } catch (const CommitUnknown& unknown) {
        EXPECT_EQ(outrider::resolve(observer.get(), unknown), CommitOutcome::committed);
    }
    killer.join();
    EXPECT_EQ(observer.value("select count(*) from outrider.message"), "1");
}

}  // namespace
}  // namespace outrider
