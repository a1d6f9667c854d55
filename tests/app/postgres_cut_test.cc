// The connection dies while a transaction commits, again and again, at every moment there is. What
// the application is told, what is in its tables and what is delivered must agree each time.

#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "outrider/postgres_unit.h"

#include "app/unit_suite.h"
#include "core/dice.h"
#include "postgres/log.h"
#include "support/environment.h"
#include "support/gate.h"
#include "support/tcp.h"

namespace outrider {
namespace {

using live::Gate;
using Names = std::set<std::string>;

class PostgresCut : public ::testing::Test {
protected:
    PostgresCut() { observer_.run("create table orders (id text primary key)"); }

    // The connection ends at a byte of what commit() sends, most often one of COMMIT itself, or at
    // any moment.
    void spoil() {
        constexpr std::size_t kCommitBytes = 12;
        const std::uint64_t way = dice_.pick(4);
        if (way < 2) gate_.reset_after(bytes_ - kCommitBytes + dice_.pick(kCommitBytes + 1));
        if (way == 2) gate_.reset_after(1 + dice_.pick(bytes_));
        if (way < 3) return;
        // Up to twice as long as a commit takes here.
        const auto moment = took_ * static_cast<int>(dice_.pick(2000)) / 1000;
        end_ = std::jthread([this, moment] {
            std::this_thread::sleep_for(moment);
            gate_.cut();
        });
    }

    // How many bytes commit() sends, which is the same for names of the same length, and how long
    // it takes.
    void measure(const std::string& name) {
        const PostgresSession session(conninfo());
        auto unit = begin(session, name);
        const std::size_t before = gate_.sent();
        const auto start = std::chrono::steady_clock::now();
        unit.commit();
        took_ = std::chrono::steady_clock::now() - start;
        bytes_ = gate_.sent() - before;
    }

    [[nodiscard]] std::string conninfo() const {
        return log_.conninfo + " host=127.0.0.1 port=" + std::to_string(gate_.port());
    }

    static UnitOfWork<PGconn> begin(const PostgresSession& session, const std::string& name) {
        auto unit = outrider::begin(session.get());
        postgres::check(
            PQexec(unit.handle(), ("insert into orders values ('" + name + "')").c_str())
        );
        unit.enqueue(app_message(name));
        return unit;
    }

    // Whether the transaction is there, as the application is told.
    bool commit(const std::string& name, bool is_spoiled) {
        const PostgresSession session(conninfo());
        auto unit = begin(session, name);
        if (is_spoiled) spoil();
        try {
            unit.commit();
            ++answered_;
            return true;
        } catch (const CommitUnknown& unknown) {
            return resolve(unknown);
        } catch (const Failure&) {
            return false;  // before anything was sent
        }
    }

    bool resolve(const CommitUnknown& unknown) {
        CommitOutcome outcome = CommitOutcome::in_progress;
        while (outcome == CommitOutcome::in_progress) {
            outcome = outrider::resolve(observer_.get(), unknown);
        }
        EXPECT_NE(outcome, CommitOutcome::unknown);
        ++(outcome == CommitOutcome::committed ? lost_answers_ : lost_requests_);
        return outcome == CommitOutcome::committed;
    }

    static Names names(const std::vector<std::string>& all) { return {all.begin(), all.end()}; }

    PostgresLog log_;
    PostgresSession observer_{log_.conninfo};
    SeededDice dice_{6};
    Gate gate_{
        [] { return live::connect_to(PostgresServer::shared().folder() + "/.s.PGSQL.5432"); }};
    std::jthread end_;
    std::size_t bytes_ = 0;
    std::chrono::nanoseconds took_{0};
    int answered_ = 0;
    int lost_answers_ = 0;
    int lost_requests_ = 0;
};

TEST_F(PostgresCut, NobodyIsToldWhatIsNotSo) {
    Names committed = {"1000"};
    measure("1000");
    const std::uint64_t commits = number_from("COMMITS_CUT", 100);
    for (std::uint64_t i = 0; i < commits; ++i) {
        const std::string name = std::to_string(1001 + i);
        const bool is_last = i + 1 == commits;  // that one is answered, however slow the machine is
        if (commit(name, !is_last)) committed.insert(name);
        if (end_.joinable()) end_.join();
        gate_.open();
        gate_.reset_after(0);
    }
    EXPECT_EQ(names(observer_.column("select id from orders")), committed);
    const std::vector<std::string> delivered = take_all(*log_.open(everything()));
    EXPECT_EQ(names(delivered), committed);
    EXPECT_EQ(delivered.size(), committed.size());
    std::printf(
        "  %d answered, %d answers lost, %d requests lost\n",
        answered_,
        lost_answers_,
        lost_requests_
    );
    EXPECT_GT(answered_, 0);
    EXPECT_GT(lost_answers_, 0);
    EXPECT_GT(lost_requests_, 0);
}

}  // namespace
}  // namespace outrider
