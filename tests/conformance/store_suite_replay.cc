#include <future>

#include "conformance/store_suite.h"

// Replay from history.

namespace outrider {

using Payloads = std::vector<std::string>;
using std::chrono::seconds;

namespace {

ReplayFilter from(std::int64_t seq) {
    ReplayFilter filter;
    filter.destination = "all";
    filter.from_seq = seq;
    return filter;
}

}  // namespace

// How many were replayed.
static std::uint64_t replayed(StoreAdmin& admin, const ReplayFilter& filter, bool dry_run = false) {
    const Result<std::optional<std::uint64_t>> done = admin.replay(filter, dry_run);
    EXPECT_TRUE(done) << done.error().text;
    return done ? done->value_or(999'999) : 999'999;
}

TEST_P(StoreSuite, ReplaysAKeyInItsOrderAndBeforeWhatIsNewOfIt) {
    harness_->commit({message("t", "k", "1"), message("t", "k", "2")});
    const auto store = open(destination());
    EXPECT_EQ(deliver(*store), (Payloads{"1", "2"}));
    harness_->commit({message("t", "k", "3")});
    EXPECT_EQ(replayed(*admin(), from(0)), 2U);
    harness_->commit({message("t", "k", "4")});
    Payloads got;
    while (got.size() < 4) {
        const Payloads some = deliver(*store);
        ASSERT_FALSE(some.empty());
        got.insert(got.end(), some.begin(), some.end());
    }
    EXPECT_EQ(got, (Payloads{"1", "2", "3", "4"}));
    EXPECT_EQ(deliver(*store), Payloads{});
    EXPECT_EQ(status().parked, 0U);
    EXPECT_EQ(status().blocked_keys, 0U);
}

TEST_P(StoreSuite, ReplaysOnlyWhatIsAskedFor) {
    Message old = message("a", "k", "old");
    old.occurred_at = harness_->clock->wall() - seconds(100);
    harness_->commit({old, message("a", "k", "1"), message("b", "k", "2"), message("a", "j", "3")});
    harness_->commit({message("other", "k", "4")});
    Destination some = destination();
    some.topics = {"a", "b"};
    const auto store = open(some);
    EXPECT_EQ(deliver(*store).size(), 4U);
    EXPECT_EQ(deliver(*store), Payloads{});
    ReplayFilter filter;
    filter.destination = "all";
    EXPECT_EQ(replayed(*admin(), filter, true), 4U) << "and nothing of a topic it does not take";
    filter.from_time = harness_->clock->wall() - seconds(50);
    EXPECT_EQ(replayed(*admin(), filter, true), 3U);
    filter.key = "k";
    EXPECT_EQ(replayed(*admin(), filter, true), 2U);
    filter.topic = "a*";
    EXPECT_EQ(deliver(*store), Payloads{}) << "a dry run changes nothing";
    EXPECT_EQ(replayed(*admin(), filter), 1U);
    EXPECT_EQ(deliver(*store), Payloads{"1"});
    filter.destination = "nobody";
    const Result<std::optional<std::uint64_t>> nobody = admin()->replay(filter, false);
    ASSERT_TRUE(nobody);
    EXPECT_FALSE(*nobody);
}

TEST_P(StoreSuite, ReplaysFromANumberOfTheLog) {
    harness_->commit({message("t", "k", "1"), message("t", "k", "2"), message("t", "k", "3")});
    const auto store = open(destination());
    Batch batch = claim(*store);
    ASSERT_EQ(batch.envelopes.size(), 3U);
    const std::int64_t second = batch.envelopes[1].seq;
    settle(*store, std::move(batch), done);
    EXPECT_EQ(replayed(*admin(), from(second)), 2U);
    EXPECT_EQ(deliver(*store), (Payloads{"2", "3"}));
    EXPECT_EQ(replayed(*admin(), from(second + 1000)), 0U);
}

TEST_P(StoreSuite, ReplayLeavesAloneWhatIsPendingParkedOrDead) {
    harness_->commit({message("t", "a", "parked"), message("t", "b", "dead")});
    harness_->commit({message("t", "c", "done")});
    const auto store = open(destination());
    settle(*store, claim(*store), [this](const Envelope& e) {
        if (e.payload == "parked") return refused(e);
        return e.payload == "dead" ? dead(e) : done(e);
    });
    harness_->commit({message("t", "d", "pending")});
    EXPECT_EQ(replayed(*admin(), from(0)), 1U);
    EXPECT_EQ(replayed(*admin(), from(0)), 0U) << "it waits already";
    EXPECT_EQ(status().parked, 2U);
    EXPECT_EQ(status().dead, 1U);
    Payloads got = deliver(*store);
    const Payloads more = deliver(*store);
    got.insert(got.end(), more.begin(), more.end());
    EXPECT_EQ(sorted(got), (Payloads{"done", "pending"}));
    harness_->clock->advance(seconds(11));
    EXPECT_EQ(deliver(*store), Payloads{"parked"});
}

TEST_P(StoreSuite, ReplayDuringATurnTakesNothingThatIsNotSettled) {
    harness_->commit({message("t", "k", "1")});
    const auto store = open(destination());
    EXPECT_EQ(deliver(*store), Payloads{"1"});
    harness_->commit({message("t", "k", "2"), message("t", "k", "3")});
    Batch batch = claim(*store);
    ASSERT_EQ(batch.envelopes.size(), 2U);
    // It may have to wait for the lane's lock.
    auto replay = std::async(std::launch::async, [this] { return replayed(*admin(), from(0)); });
    settle(*store, std::move(batch), [](const Envelope& e) {
        return e.payload == "2" ? done(e) : left(e);
    });
    EXPECT_GE(replay.get(), 1U);
    Payloads got;
    for (int turn = 0; turn < 5; ++turn) {
        const Payloads some = deliver(*store);
        got.insert(got.end(), some.begin(), some.end());
    }
    EXPECT_EQ(std::count(got.begin(), got.end(), "3"), 1) << "pending: neither lost nor repeated";
    EXPECT_EQ(std::count(got.begin(), got.end(), "1"), 1);
    EXPECT_EQ(got.front(), "1");
    EXPECT_EQ(got.back(), "3");
}

TEST_P(StoreSuite, ReplaysForDestinationsOfEveryOrder) {
    harness_->commit({message("t", "", "1"), message("t", "k", "2"), message("t", "k", "3")});
    for (const Order order : {Order::key, Order::none, Order::global}) {
        Destination one = destination("order-" + std::string(to_string(order)));
        one.order = order;
        const auto store = open(one);
        EXPECT_EQ(deliver(*store).size(), 3U);
        ReplayFilter filter;
        filter.destination = one.name;
        EXPECT_EQ(replayed(*admin(), filter), 3U);
        const Payloads got = deliver(*store);
        EXPECT_EQ(sorted(got), (Payloads{"1", "2", "3"})) << one.name;
        if (order == Order::global) {
            EXPECT_EQ(got, (Payloads{"1", "2", "3"}));
        }
        EXPECT_EQ(deliver(*store), Payloads{});
    }
}

TEST_P(StoreSuite, WhatIsReplayedOutlivesTheLog) {
    harness_->commit({message("t", "k", "1"), message("t", "k", "2")});
    const auto store = open(destination());
    const auto other = open(destination("other"));
    EXPECT_EQ(deliver(*store).size(), 2U);
    EXPECT_EQ(deliver(*other).size(), 2U);
    EXPECT_EQ(replayed(*admin(), from(0)), 2U);
    harness_->clock->advance(seconds(100));
    clean({other.get()});
    EXPECT_EQ(deliver(*store), (Payloads{"1", "2"}));
    EXPECT_EQ(deliver(*other), Payloads{}) << "another destination notices nothing";
    clean({store.get(), other.get()});
    EXPECT_EQ(replayed(*admin(), from(0)), 0U) << "the history is gone";
}

TEST_P(StoreSuite, GivesADestinationThatStartsNowItsHistoryOnDemand) {
    harness_->commit({message("t", "k", "1"), message("t", "k", "2")});
    Destination late = destination();
    late.start = Start::now;
    const auto store = open(late);
    EXPECT_EQ(deliver(*store), Payloads{});
    EXPECT_EQ(replayed(*admin(), from(0)), 2U);
    EXPECT_EQ(deliver(*store), (Payloads{"1", "2"}));
}

}  // namespace outrider
