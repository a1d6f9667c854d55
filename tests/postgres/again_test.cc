#include <algorithm>
#include <thread>

#include <gtest/gtest.h>

#include "postgres/log.h"
#include "postgres/short_cut.h"

// A claim right after a settle is told where its lanes stand. Whatever has happened in between, it
// finds what one that looks it up would find.

namespace outrider {
namespace {

using Payloads = std::vector<std::string>;

class PostgresAgain : public ::testing::Test {
protected:
    PostgresAgain()
        : log(4, short_cut::quiet_server()),
          session(log.conninfo),
          store(log.open(everything())) {
        go_on();
    }

    // A turn, after which the place of all lanes is known.
    void go_on() {
        insert(session, "k", "before");
        EXPECT_EQ(take(*store), Payloads{"before"});
    }

    // Claims that have looked up which segments there are, once the store is closed. A look reads
    // the list twice.
    [[nodiscard]] int full_claims() {
        store.reset();
        const std::string others =
            "select count(*) from pg_stat_activity where datname = current_database() and "
            "backend_type = 'client backend' and pid <> pg_backend_pid()";
        while (session.value(others) != "0") std::this_thread::yield();
        return std::stoi(session.value("select seq_scan from pg_stat_user_tables where relid = "
                                       "'outrider.segment'::regclass")) /
               2;
    }

    PostgresLog log;
    PostgresSession session;
    std::unique_ptr<Store> store;
};

TEST_F(PostgresAgain, ATurnBehindAnotherLooksNothingUp) {
    for (int i = 0; i < 100; ++i) {
        insert(session, std::to_string(i), std::to_string(i));
        ASSERT_EQ(take(*store), Payloads{std::to_string(i)});
    }
    EXPECT_TRUE(take_all(*store).empty());
    EXPECT_EQ(session.value("select sum(delivered) from outrider.cursor"), "101");
    if (std::stoi(session.value("show server_version_num")) < 150'000) return;  // counted later
    EXPECT_LT(full_claims(), 20);
}

TEST_F(PostgresAgain, LanesThatSomebodyElseHasMovedAreNotTakenTwice) {
    const auto other = log.open(everything());
    for (int i = 0; i < 40; ++i) {
        insert(session, "k", "a");
        EXPECT_EQ(take(*other), Payloads{"a"});
        insert(session, "k", "b");
        EXPECT_EQ(take(*store), Payloads{"b"});
    }
    EXPECT_TRUE(take_all(*store).empty());
    EXPECT_TRUE(take_all(*other).empty());
}

TEST_F(PostgresAgain, LanesThatSomebodyElseHoldsAreLeftToIt) {
    const auto other = log.open(everything());
    insert(session, "k", "1");
    Result<Batch> held = other->claim({10, 1U << 20U});
    ASSERT_TRUE(held) << held.error().text;
    ASSERT_EQ(held->envelopes.size(), 1U);
    EXPECT_TRUE(take(*store).empty());
    held = Batch();
    EXPECT_EQ(take(*store), Payloads{"1"});
}

TEST_F(PostgresAgain, AnotherSegmentIsNoticed) {
    short_cut::age_segments(session);
    ASSERT_TRUE(log.admin()->clean_up(std::chrono::hours(1), 1000));
    ASSERT_EQ(session.value("select last_value from outrider.active"), "2");
    insert(session, "k", "1");
    EXPECT_EQ(take(*store), Payloads{"1"});
}

TEST_F(PostgresAgain, WhatCommitsLateIsFoundNearAndFar) {
    for (const int between : {0, 10, 5'000}) {
        const PostgresSession late(log.conninfo);
        late.run("begin");
        insert(late, "k", "late");
        go_on();
        session.run(
            "insert into outrider.message (topic, key, payload) select 't', i, i::text::bytea "
            "from generate_series(1, " +
            std::to_string(between) + ") i"
        );
        EXPECT_EQ(take_all(*store, 10'000).size(), static_cast<std::size_t>(between));
        go_on();
        go_on();
        late.run("commit");
        EXPECT_EQ(take(*store), Payloads{"late"}) << between;
        EXPECT_TRUE(take_all(*store).empty());
    }
}

TEST_F(PostgresAgain, WhatWasRolledBackIsNotTaken) {
    const PostgresSession other(log.conninfo);
    other.run("begin");
    insert(other, "k", "never");
    go_on();
    other.run("rollback");
    EXPECT_TRUE(take(*store).empty());
    go_on();
}

TEST_F(PostgresAgain, WhatWaitsGoesFirst) {
    ReplayFilter scope;
    scope.destination = "all";
    ASSERT_TRUE(log.admin()->replay(scope, false));
    insert(session, "k", "after");
    EXPECT_EQ(take_all(*store), (Payloads{"before", "after"}));
}

TEST_F(PostgresAgain, TheOperatorIsObeyed) {
    ASSERT_TRUE(*log.admin()->set_paused("all", true));
    insert(session, "k", "1");
    EXPECT_TRUE(take(*store).empty());
    ASSERT_TRUE(*log.admin()->set_paused("all", false));
    EXPECT_EQ(take(*store), Payloads{"1"});
}

TEST_F(PostgresAgain, AnotherListOfTopicsIsRefused) {
    Destination other = everything();
    other.topics = {"t", "u"};
    const auto opened = log.open(other);
    insert(session, "k", "1");
    const Result<Batch> batch = store->claim({10, 1U << 20U});
    ASSERT_FALSE(batch);
    EXPECT_EQ(take(*opened), Payloads{"1"});
}

// As if the server had lost our last settle: what it says counts.
TEST_F(PostgresAgain, APlaceThatIsGoneIsLookedUp) {
    session.run("delete from outrider.progress where turn > 0");
    insert(session, "k", "1");
    EXPECT_EQ(take_all(*store), (Payloads{"before", "1"}));
}

TEST_F(PostgresAgain, APlaceThatIsGoneIsLookedUpThoughOthersHaveMoved) {
    Destination destination = everything();
    destination.workers = 2;
    const auto one = log.open(destination);
    const auto other = log.open(destination);
    const auto write = [this](const std::string& payload) {
        for (int i = 0; i < 20; ++i) insert(session, std::to_string(i), payload);
    };
    write("first");
    const std::size_t mine = take(*one).size();
    ASSERT_GT(mine, 0U);
    ASSERT_EQ(take(*other).size(), 20 - mine);
    session.run(
        "delete from outrider.progress where turn = (select max(turn) - 1 from outrider.progress)"
    );
    write("second");
    EXPECT_EQ(take(*one).size(), 2 * mine) << "what the server has lost, and what is new";
    EXPECT_EQ(take_all(*other).size(), 20 - mine);
}

TEST_F(PostgresAgain, AForgottenDestinationIsRefused) {
    session.run("delete from outrider.progress");
    session.run("delete from outrider.destination");
    insert(session, "k", "1");
    const Result<Batch> batch = store->claim({10, 1U << 20U});
    ASSERT_FALSE(batch);
    EXPECT_NE(batch.error().text.find("forgotten"), std::string::npos) << batch.error().text;
}

// More than a batch, and a message that is larger than its share.
TEST_F(PostgresAgain, WhatDoesNotFitIsReadInPieces) {
    for (int i = 0; i < 25; ++i) insert(session, "k", std::to_string(i));
    EXPECT_EQ(take(*store, 10).size(), 10U);
    EXPECT_EQ(take_all(*store, 10).size(), 15U);
    go_on();
    session.run(
        "insert into outrider.message (topic, key, payload) values ('t', 'k', repeat('x', "
        "500000)::bytea)"
    );
    EXPECT_EQ(take_all(*store).front().size(), 500'000U);
}

TEST_F(PostgresAgain, AShareOfTheLanesGoesOn) {
    Destination destination = everything();
    destination.workers = 2;
    store = log.open(destination);
    const auto other = log.open(destination);
    Payloads all;
    for (int i = 0; i < 100; ++i) {
        insert(session, std::to_string(i), std::to_string(i));
        for (Store* one : {store.get(), other.get()}) {
            for (const std::string& payload : take(*one)) all.push_back(payload);
        }
    }
    for (const std::string& payload : take_all(*store)) all.push_back(payload);
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all.size(), 100U);
    EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
}

}  // namespace
}  // namespace outrider
