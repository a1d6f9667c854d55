#include <algorithm>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "postgres/log.h"
#include "postgres/short_cut.h"

// What a turn does to the server and to other sessions.

namespace outrider {
namespace {

using Payloads = std::vector<std::string>;

TEST(PostgresTurn, HoldsNoIdAndNoSnapshotWhileTheBrokerAnswers) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    insert(session, "k", "1");
    const auto store = log.open(everything());
    take_all(*store);
    insert(session, "k", "2");
    const Result<Batch> batch = store->claim({10, 1000});
    ASSERT_TRUE(batch);
    ASSERT_EQ(batch->envelopes.size(), 1U);
    const std::string others =
        "from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() "
        "and state = 'idle in transaction'";
    EXPECT_EQ(session.value("select count(*) " + others), "1");
    EXPECT_EQ(
        session.value(
            "select count(*) " + others +
            " and (backend_xid is not null or backend_xmin is not null)"
        ),
        "0"
    );
    EXPECT_NE(
        session.value("select count(*) from pg_locks where locktype = 'advisory' "
                      "and mode = 'ExclusiveLock'"),
        "0"
    );
}

TEST(PostgresTurn, DrawsNoIdWhenThereIsNothingToDo) {
    const PostgresLog log(4, short_cut::quiet_server());  // autovacuum draws ids as well
    const PostgresSession session(log.conninfo);
    insert(session, "k", "1");
    const auto store = log.open(everything());
    take_all(*store);
    const auto last_id = [&] {
        return session.value("select pg_snapshot_xmax(pg_current_snapshot())");
    };
    const std::string before = last_id();
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(take(*store).empty());
    EXPECT_EQ(last_id(), before);
}

TEST(PostgresTurn, IsNotNeededToBeSeen) {
    const PostgresLog log;
    const auto is_served = [&] { return log.admin()->backlog({})->destinations[0].relay_running; };
    {
        const auto one = log.open(everything());
        EXPECT_TRUE(is_served()) << "a relay that has nothing to do";
        const auto another = log.open(everything());
        EXPECT_FALSE(one->claim({10, 1000})->held_elsewhere) << "whoever asks takes no lane";
    }
    const PostgresSession session(log.conninfo);
    const std::string others =
        "select count(*) from pg_stat_activity where datname = current_database() "
        "and pid <> pg_backend_pid()";
    while (session.value(others) != "0") std::this_thread::yield();
    EXPECT_FALSE(is_served());
}

// What it handed out would come again and again, since nothing could be settled.
void expect_nothing_handed_out(const PostgresLog& log) {
    const auto store = log.open(everything());
    const Result<Batch> batch = store->claim({10, 1000});
    ASSERT_FALSE(batch);
    EXPECT_EQ(batch.error().remedy, Remedy::wait);
    EXPECT_NE(batch.error().text.find("read-only"), std::string::npos) << batch.error().text;
}

TEST(PostgresTurn, HandsOutNothingWhereTransactionsAreReadOnly) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    const auto before = log.open(everything());
    insert(session, "k", "1");
    const PostgresLog fenced(log, log.conninfo + " options='-c default_transaction_read_only=on'");
    expect_nothing_handed_out(fenced);
    EXPECT_EQ(take_all(*before), (Payloads{"1"}));
}

TEST(PostgresTurn, HandsOutNothingOnAStandby) {
    PostgresServer server;
    const PostgresLog log(2, server);
    [[maybe_unused]] const auto known = log.open(everything());
    insert(PostgresSession(log.conninfo), "k", "1");
    server.stand_by();
    const auto opened = log.driver()->open(everything());
    ASSERT_FALSE(opened) << "promoted now, it would be served although nobody has adopted it";
    EXPECT_EQ(opened.error().remedy, Remedy::wait);
    EXPECT_NE(opened.error().text.find("standby"), std::string::npos) << opened.error().text;
    const Result<std::vector<Finding>> findings = log.admin()->examine();
    ASSERT_TRUE(findings) << findings.error().text;
    EXPECT_TRUE(std::any_of(findings->begin(), findings->end(), [](const Finding& finding) {
        return finding.code == "standby";
    }));
}

TEST(PostgresTurn, MayTakeLongerThanTheServerCanCount) {
    const PostgresLog log;
    Destination patient = everything();
    patient.publish_deadline = std::chrono::hours(24 * 30);
    insert(PostgresSession(log.conninfo), "k", "1");
    EXPECT_EQ(take_all(*log.open(patient)), Payloads{"1"});
}

TEST(PostgresTurn, LosesItsLanesWhenItIsFrozen) {
    PostgresLog log(1);
    const PostgresSession session(log.conninfo);
    insert(session, "k", "1");
    Destination impatient = everything();
    impatient.publish_deadline = std::chrono::milliseconds(10);  // and a margin of five seconds
    const auto frozen = log.open(impatient);
    const auto other = log.open(impatient);
    Result<Batch> held = frozen->claim({10, 1000});
    ASSERT_TRUE(held);
    EXPECT_TRUE(other->claim({10, 1000})->held_elsewhere);
    Payloads taken;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (taken.empty() && std::chrono::steady_clock::now() < deadline) taken = take(*other);
    EXPECT_EQ(taken, Payloads{"1"});
    Settlement done;
    done.fate = Fate::done;
    const Result<void> late =
        frozen->settle(std::move(held).value(), std::vector<Settlement>{done});
    EXPECT_FALSE(late) << "a claim that was lost cannot be settled";
}

TEST(PostgresTurn, LeavesLockedLanesToOthersAndTakesTheRest) {
    const PostgresLog log(8);
    const PostgresSession session(log.conninfo);
    std::set<std::string> expected;
    for (int i = 0; i < 40; ++i) {
        insert(session, std::to_string(i), std::to_string(i));
        expected.insert(std::to_string(i));
    }
    Destination shared = everything();
    shared.workers = 2;
    const auto first = log.open(shared);
    const auto second = log.open(shared);
    Result<Batch> held = first->claim({1000, 1U << 20U});
    ASSERT_TRUE(held);
    std::set<std::string> got;
    for (const Envelope& envelope : held->envelopes) got.emplace(envelope.payload);
    EXPECT_LT(got.size(), 40U) << "a worker takes its share of the lanes";
    for (const std::string& payload : take_all(*second)) {
        EXPECT_TRUE(got.insert(payload).second) << payload << " was handed out twice";
    }
    EXPECT_EQ(got, expected);
}

TEST(PostgresTurn, DeliversALargeTransactionInPieces) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    session.run(
        "insert into outrider.message (topic, key, payload) "
        "select 't', (i % 100)::text, i::text::bytea from generate_series(1, 200000) i"
    );
    const auto store = log.open(everything());
    std::vector<int> last(100, 0);
    std::size_t count = 0;
    for (Payloads some = take(*store, 5000); !some.empty(); some = take(*store, 5000)) {
        for (const std::string& payload : some) {
            const int number = std::stoi(payload);
            EXPECT_GT(number, last[static_cast<std::size_t>(number % 100)]);
            last[static_cast<std::size_t>(number % 100)] = number;
        }
        count += some.size();
    }
    EXPECT_EQ(count, 200'000U);
}

}  // namespace
}  // namespace outrider
