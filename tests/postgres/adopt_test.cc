#include <algorithm>
#include <csignal>
#include <optional>
#include <set>

#include <gtest/gtest.h>

#include "postgres/log.h"

// A log that is not where it was written.

namespace outrider {
namespace {

using Payloads = std::vector<std::string>;

Payloads sorted(Payloads payloads) {
    std::sort(payloads.begin(), payloads.end());
    return payloads;
}

// Another cluster, for all tests.
PostgresServer& elsewhere() {
    static PostgresServer server;
    return server;
}

// Refused by the store, and by what cleans up behind it.
void expect_refused(const PostgresLog& log, const std::string& reason) {
    const auto store = log.driver()->open(everything());
    ASSERT_FALSE(store) << "a foreign log was relayed";
    EXPECT_EQ(store.error().remedy, Remedy::correct);
    EXPECT_NE(store.error().text.find(reason), std::string::npos) << store.error().text;
    EXPECT_NE(store.error().text.find("outrider adopt"), std::string::npos);
    EXPECT_FALSE(log.admin()->clean_up(Duration::zero(), 1000));
    EXPECT_FALSE(log.admin()->replay({.destination = "all"}, false));
}

// Everything that a destination can have: done, parked, dead, pending, a window that is open.
void live(const PostgresLog& log) {
    const PostgresSession session(log.conninfo);
    const auto all = log.open(everything());
    const auto slow = log.open(everything("slow"));
    for (int i = 0; i < 10; ++i) insert(session, "k" + std::to_string(i % 3), std::to_string(i));
    EXPECT_EQ(take_all(*all).size(), 10U);
    EXPECT_EQ(take(*slow, 2).size(), 2U);
    EXPECT_EQ(session.value("select count(*) > 0 from outrider.cursor where s is not null"), "t");
    insert(session, "p", "parked");
    insert(session, "d", "dead");
    Result<Batch> batch = all->claim({10, 1000});
    ASSERT_TRUE(batch);
    ASSERT_EQ(batch->envelopes.size(), 2U);
    std::vector<Settlement> settlements(2);
    for (std::size_t i = 0; i < 2; ++i) {
        const bool dies = batch->envelopes[i].payload == "dead";
        settlements[i].fate = dies ? Fate::dead : Fate::again;
        settlements[i].park_key = batch->envelopes[i].order_key;
        settlements[i].due_at = batch->now;
    }
    ASSERT_TRUE(all->settle(std::move(batch).value(), settlements));
    insert(session, "k0", "pending");
}

// A log that has lived, and its dump in another cluster.
struct Moved {
    Moved() {
        live(log);
        PostgresServer::shared().dump(log.conninfo, copy.conninfo);
    }
    PostgresLog log;
    PostgresLog copy{log, elsewhere().create_database()};
    PostgresSession session{copy.conninfo};
};

TEST(PostgresAdopt, ARestoredDumpIsRefusedUntilAdoptedAndThenLosesAndRepeatsNothing) {
    const Moved moved;
    const PostgresLog& copy = moved.copy;
    const PostgresSession& session = moved.session;
    expect_refused(copy, "another cluster");
    insert(session, "k0", "written before it was adopted");

    const Result<Adoption> adoption = copy.admin()->adopt(false);
    ASSERT_TRUE(adoption) << adoption.error().text;
    EXPECT_TRUE(adoption->was_foreign);
    EXPECT_EQ(session.value("select count(*) from outrider.message where xid <> '3'"), "0")
        << "no id of the other cluster may be drawn again here";
    insert(session, "k0", "new");

    const auto all = copy.open(everything());
    EXPECT_EQ(
        sorted(take_all(*all)),
        (Payloads{"new", "parked", "pending", "written before it was adopted"})
    );
    const auto slow = copy.open(everything("slow"));
    const Payloads rest = take_all(*slow);
    EXPECT_EQ(rest.size(), 8U + 5U) << "8 of 10, then parked, dead, pending and the two new ones";
    EXPECT_EQ(rest.size(), std::set(rest.begin(), rest.end()).size());
    EXPECT_EQ(copy.admin()->dead_letters({})->size(), 1U);

    const auto newcomer = copy.open(everything("newcomer"));
    EXPECT_EQ(take_all(*newcomer).size(), 15U) << "the history is there for others";
    EXPECT_EQ(**copy.admin()->replay({.destination = "newcomer"}, false), 15U);
    EXPECT_FALSE(copy.admin()->adopt(false)->was_foreign);
}

TEST(PostgresAdopt, KeepsTheOrderOfAKey) {
    const PostgresLog log(2);
    const PostgresSession original(log.conninfo);
    const auto before = log.open(everything());
    for (int i = 0; i < 4; ++i) insert(original, "k", std::to_string(i));
    EXPECT_EQ(take(*before, 2), (Payloads{"0", "1"}));
    PostgresLog copy(log, elsewhere().create_database());
    PostgresServer::shared().dump(log.conninfo, copy.conninfo);
    const PostgresSession session(copy.conninfo);
    insert(session, "k", "4");
    ASSERT_TRUE(copy.admin()->adopt(false));
    insert(session, "k", "5");
    EXPECT_EQ(take_all(*copy.open(everything())), (Payloads{"2", "3", "4", "5"}));
}

TEST(PostgresAdopt, GoesOnThroughRotationAndTruncation) {
    const Moved moved;
    const PostgresLog& copy = moved.copy;
    const PostgresSession& session = moved.session;
    ASSERT_TRUE(copy.admin()->adopt(false));
    const auto all = copy.open(everything());
    const auto slow = copy.open(everything("slow"));
    std::uint64_t emptied = 0;
    std::size_t delivered = take_all(*all).size();
    take_all(*slow);
    for (int round = 0; round < 12; ++round) {
        session.run("update outrider.segment set opened_at = opened_at - interval '1 hour'");
        insert(session, "k", std::to_string(round));
        delivered += take_all(*all).size();
        take_all(*slow);
        const Result<std::uint64_t> cleaned = copy.admin()->clean_up(Duration::zero(), 1000);
        ASSERT_TRUE(cleaned) << cleaned.error().text;
        emptied += *cleaned;
    }
    EXPECT_GT(emptied, 2U);
    EXPECT_EQ(delivered, 2U + 12U);
}

// A dump takes rows as they were when it began, and registers as they are when it comes to them.
TEST(PostgresAdopt, ARotationInTheMiddleOfADumpLosesNothing) {
    const Moved moved;
    const PostgresLog& copy = moved.copy;
    const PostgresSession& session = moved.session;
    session.run("select setval('outrider.active', 2)");
    insert(session, "a", "before");
    ASSERT_TRUE(copy.admin()->adopt(std::nullopt));
    insert(session, "a", "after");
    EXPECT_EQ(
        sorted(take_all(*copy.open(everything()))),
        (Payloads{"after", "before", "parked", "pending"})
    );
    const std::string is_open =
        "select opened_at is not null and closed_by is null from "
        "outrider.segment where segment = 2";
    EXPECT_EQ(session.value(is_open), "t");
}

// A logical replica has the rows, and not the sequences.
TEST(PostgresAdopt, RegistersThatDidNotComeAlongAreSetAgain) {
    const Moved moved;
    const PostgresLog& copy = moved.copy;
    const PostgresSession& session = moved.session;
    for (const std::string name : {"seq", "active"}) {
        session.run("alter sequence outrider." + name + " restart");
    }
    const std::string newest = "select max(seq) from outrider.message";
    const long before = std::stol(session.value(newest));
    ASSERT_TRUE(copy.admin()->adopt(std::nullopt));
    insert(session, "k0", "new");
    EXPECT_GT(std::stol(session.value(newest)), before) << "no number is given out twice";
    EXPECT_EQ(sorted(take_all(*copy.open(everything()))), (Payloads{"new", "parked", "pending"}));
}

TEST(PostgresAdopt, ALogInAnotherEncodingIsRefusedIfItsOrderIsAnotherThere) {
    const Moved moved;
    const PostgresLog& copy = moved.copy;
    const PostgresSession& session = moved.session;
    session.run("update outrider.setting set encoding = 'LATIN1'");
    session.run("begin");
    insert(session, "Zo\xc3\xa9", "x");
    session.run("commit");
    const Result<Adoption> refused = copy.admin()->adopt(std::nullopt);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().remedy, Remedy::correct);
    EXPECT_NE(refused.error().text.find("LATIN1"), std::string::npos) << refused.error().text;
    session.run("delete from outrider.message where key like 'Zo%'");
    EXPECT_TRUE(copy.admin()->adopt(std::nullopt)) << "ASCII is the same everywhere";
    EXPECT_EQ(session.value("select encoding from outrider.setting"), "UTF8");
}

TEST(PostgresAdopt, WhetherPromotionsAreFollowedStaysAsItWasSaidLast) {
    const PostgresLog log;
    EXPECT_FALSE(log.admin()->adopt(std::nullopt)->follows_promotions);
    EXPECT_TRUE(log.admin()->adopt(true)->follows_promotions);
    EXPECT_TRUE(log.admin()->adopt(std::nullopt)->follows_promotions);
    EXPECT_FALSE(log.admin()->adopt(false)->follows_promotions);
}

TEST(PostgresAdopt, ACopyWithinTheClusterIsRefusedToo) {
    const PostgresLog log;
    live(log);
    PostgresLog copy(log, PostgresServer::shared().create_database());
    PostgresServer::shared().dump(log.conninfo, copy.conninfo);
    expect_refused(copy, "another database");
    ASSERT_TRUE(copy.admin()->adopt(false));
    EXPECT_EQ(sorted(take_all(*copy.open(everything()))), (Payloads{"parked", "pending"}));
    EXPECT_TRUE(log.driver()->open(everything())) << "the original is what it was";
}

TEST(PostgresAdopt, APromotedServerIsRefusedUntilAdoptedOrToldToFollow) {
    PostgresServer server;
    PostgresLog log(4, server);
    live(log);
    server.kill(SIGQUIT);  // at once, without a checkpoint
    server.start();
    EXPECT_TRUE(log.driver()->open(everything())) << "a crash is no reason to refuse";
    server.promote();
    expect_refused(log, "timeline 2");
    const Result<Adoption> adoption = log.admin()->adopt(true);
    ASSERT_TRUE(adoption) << adoption.error().text;
    EXPECT_TRUE(adoption->was_foreign);
    EXPECT_EQ(adoption->carried_over, 0U) << "its ids are still its own";
    EXPECT_EQ(sorted(take_all(*log.open(everything()))), (Payloads{"parked", "pending"}));
    server.promote();
    insert(PostgresSession(log.conninfo), "k0", "after");
    EXPECT_EQ(take_all(*log.open(everything())), Payloads{"after"}) << "it follows promotions";
}

}  // namespace
}  // namespace outrider
