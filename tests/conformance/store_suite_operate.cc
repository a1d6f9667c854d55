#include <algorithm>

#include "conformance/store_suite.h"

// What operators do and see, and clean-up.

namespace outrider {

using Payloads = std::vector<std::string>;
using std::chrono::seconds;

TEST_P(StoreSuite, ClaimsNothingForAPausedDestination) {
    harness_->commit({message("t", "k", "1")});
    const auto store = open(destination());
    ASSERT_TRUE(*admin()->set_paused("all", true));
    EXPECT_TRUE(claim(*store).paused);
    EXPECT_TRUE(claim(*store).envelopes.empty());
    EXPECT_TRUE(status().paused);
    ASSERT_TRUE(*admin()->set_paused("all", false));
    EXPECT_EQ(deliver(*store), Payloads{"1"});
    EXPECT_FALSE(*admin()->set_paused("nobody", true));
}

TEST_P(StoreSuite, SettlesATurnThatWasUnderWayWhenPaused) {
    harness_->commit({message("t", "k", "1")});
    const auto store = open(destination());
    Batch batch = claim(*store);
    ASSERT_TRUE(*admin()->set_paused("all", true));
    settle(*store, std::move(batch), done);
    ASSERT_TRUE(*admin()->set_paused("all", false));
    EXPECT_EQ(deliver(*store), Payloads{});
}

TEST_P(StoreSuite, ForgetsADestinationWithAllItKnew) {
    harness_->commit({message("t", "a", "1"), message("t", "b", "2"), message("t", "c", "3")});
    {
        const auto store = open(destination());
        settle(*store, claim(*store), [this](const Envelope& e) {
            if (e.payload == "1") return refused(e);
            return e.payload == "2" ? dead(e, true) : done(e);
        });
    }
    forget();
    EXPECT_FALSE(*admin()->forget("all"));
    EXPECT_TRUE(admin()->backlog({})->destinations.empty());
    EXPECT_TRUE(admin()->dead_letters({})->empty());
    EXPECT_EQ(sorted(deliver(*open(destination()))), (Payloads{"1", "2", "3"}));
}

TEST_P(StoreSuite, DoesNotForgetADestinationThatIsServed) {
    harness_->commit({message("t", "a", "1")});
    const auto store = open(destination());
    const Batch batch = claim(*store);
    const Result<bool> forgotten = admin()->forget("all");
    ASSERT_FALSE(forgotten);
    EXPECT_EQ(forgotten.error().remedy, Remedy::yield);
    EXPECT_TRUE(status().relay_running);
}

TEST_P(StoreSuite, CountsWhatIsPendingAndHowOldItIs) {
    Message old = message("t", "a", "1");
    old.occurred_at = harness_->clock->wall() - seconds(30);
    harness_->commit({old, message("t", "a", "2"), message("u", "a", "3")});
    Destination only_t = destination("only-t");
    only_t.topics = {"t"};
    const auto store = open(only_t);
    EXPECT_EQ(status("only-t").pending, 2U);
    ASSERT_TRUE(status("only-t").oldest_pending_age);
    EXPECT_EQ(*status("only-t").oldest_pending_age, seconds(30));
    EXPECT_EQ(deliver(*store).size(), 2U);
    EXPECT_EQ(status("only-t").pending, 0U);
    EXPECT_FALSE(status("only-t").oldest_pending_age);
    EXPECT_EQ(status("only-t").delivered, 2U);
}

TEST_P(StoreSuite, ShowsTopicsThatNobodyTakes) {
    harness_->commit(
        {message("taken.1", "a", "1"),
         message("lonely", "a", "2"),
         message("lonely", "b", "3"),
         message("lost", "a", "4")}
    );
    Destination some = destination("some");
    some.topics = {"taken.*"};
    const auto store = open(some);
    const Result<Backlog> backlog = admin()->backlog({});
    ASSERT_TRUE(backlog);
    ASSERT_EQ(backlog->unrouted.size(), 2U);
    EXPECT_EQ(backlog->unrouted[0].topic, "lonely");
    EXPECT_EQ(backlog->unrouted[0].messages, 2U);
    EXPECT_EQ(backlog->unrouted[1].topic, "lost");
}

TEST_P(StoreSuite, ShowsWhatWaitsForDestinationsThatNoRelayHasServedYet) {
    Message old = message("orders.x", "a", "1");
    old.occurred_at = harness_->clock->wall() - seconds(30);
    harness_->commit({old, message("orders.y", "a", "2"), message("lonely", "a", "3")});
    Destination orders = destination("orders");
    orders.topics = {"orders.*"};
    Destination late = destination("late");
    late.start = Start::now;
    const Result<Backlog> backlog = admin()->backlog({orders, late});
    ASSERT_TRUE(backlog) << backlog.error().text;
    ASSERT_EQ(backlog->destinations.size(), 2U);
    EXPECT_EQ(backlog->destinations[0].name, "late");
    EXPECT_EQ(backlog->destinations[0].pending, 0U);
    EXPECT_EQ(backlog->destinations[1].pending, 2U);
    EXPECT_EQ(backlog->destinations[1].oldest_pending_age, seconds(30));
    EXPECT_TRUE(admin()->backlog({})->destinations.empty()) << "looking makes nothing known";
}

TEST_P(StoreSuite, RefusesAClaimWithAnotherListOfTopics) {
    harness_->commit({message("a", "k", "1"), message("b", "k", "2")});
    Destination narrow = destination();
    narrow.topics = {"a"};
    Destination wide = destination();
    wide.topics = {"b", "a", "b"};
    const auto old_relay = open(narrow);
    const auto new_driver = harness_->driver();
    {
        auto new_relay = std::move(*new_driver->open(wide));
        const Result<Batch> refused = old_relay->claim({10, 1000});
        ASSERT_FALSE(refused) << "it would pass over messages of the new list";
        EXPECT_EQ(refused.error().remedy, Remedy::correct);
        EXPECT_NE(refused.error().text.find("[\"a\"]"), std::string::npos) << refused.error().text;
        EXPECT_EQ(sorted(deliver(*new_relay)), (Payloads{"1", "2"}));
    }
    const auto again = driver_->open(narrow);
    ASSERT_FALSE(again) << "what comes back must not change the list back";
    EXPECT_EQ(again.error().remedy, Remedy::correct);
    EXPECT_EQ(status().topics, (std::vector<std::string>{"a", "b"}));
    wide.topics = {"a", "b"};
    harness_->commit({message("b", "k", "3")});
    EXPECT_EQ(deliver(*open(wide)), Payloads{"3"}) << "the same list in another order";
}

TEST_P(StoreSuite, TakesAnyListOfADestinationThatWasForgotten) {
    Destination narrow = destination();
    narrow.topics = {"a"};
    Destination wide = destination();
    {
        const auto relay = open(wide);
        EXPECT_TRUE(harness_->driver()->open(narrow));
        EXPECT_FALSE(relay->claim({10, 1000}));
    }
    forget();
    const auto other = open(wide);
    harness_->commit({message("b", "k", "1")});
    EXPECT_EQ(deliver(*other), Payloads{"1"});
}

TEST_P(StoreSuite, ShowsWhatTheRelaySaidOfTheBroker) {
    const auto store = open(destination());
    EXPECT_EQ(status().circuit, CircuitState::closed);
    ASSERT_TRUE(admin()->note_circuit("all", CircuitState::open, "connection refused"));
    EXPECT_EQ(status().circuit, CircuitState::open);
    EXPECT_EQ(status().circuit_reason, "connection refused");
    ASSERT_TRUE(admin()->note_circuit("all", CircuitState::closed, ""));
    EXPECT_EQ(status().circuit, CircuitState::closed);
}

TEST_P(StoreSuite, ShowsWhyAMessageWasRefused) {
    const auto store = open(destination());
    harness_->commit({message("t", "k", "1"), message("t", "k", "2")});
    EXPECT_EQ(status().parked_reason, "");
    settle(*store, claim(*store), [&](const Envelope& envelope) {
        return envelope.payload == "1" ? refused(envelope, std::chrono::seconds(60))
                                       : behind(envelope);
    });
    EXPECT_EQ(status().parked, 2U);
    EXPECT_EQ(status().parked_reason, "refused");
}

TEST_P(StoreSuite, CleansUpOnlyWhatEveryDestinationHasPassed) {
    harness_->commit({message("t", "a", "1"), message("t", "a", "2"), message("t", "a", "3")});
    const auto quick = open(destination("quick"));
    const auto slow = open(destination("slow"));
    EXPECT_EQ(deliver(*quick).size(), 3U);
    EXPECT_EQ(deliver(*slow, 1).size(), 1U);
    harness_->clock->advance(seconds(100));
    clean({quick.get()});
    EXPECT_GE(harness_->kept(), 2U);
    EXPECT_EQ(sorted(deliver(*slow)), (Payloads{"2", "3"}));
    clean({quick.get(), slow.get()});
    EXPECT_EQ(harness_->kept(), 0U);
}

TEST_P(StoreSuite, CleansUpNothingYoungerThanTheRetention) {
    harness_->commit({message("t", "a", "1")});
    const auto store = open(destination());
    EXPECT_EQ(deliver(*store).size(), 1U);
    clean({store.get()}, std::chrono::hours(24 * 365 * 10));
    EXPECT_EQ(harness_->kept(), 1U);
    harness_->clock->advance(std::chrono::hours(24 * 365 * 20));
    clean({store.get()}, std::chrono::hours(24 * 365 * 10));
    harness_->clock->advance(std::chrono::hours(24 * 365 * 20));
    clean({store.get()}, std::chrono::hours(24 * 365 * 10));
    EXPECT_EQ(harness_->kept(), 0U);
}

// Whatever its writer says about when it happened.
TEST_P(StoreSuite, KeepsAMessageForItsRetentionFromWhenItWasWritten) {
    constexpr std::chrono::hours kDecade(24 * 365 * 10);
    Message past = message("t", "a", "past");
    past.occurred_at = harness_->clock->wall() - 2 * kDecade;
    Message future = message("t", "b", "future");
    future.occurred_at = harness_->clock->wall() + 10 * kDecade;
    harness_->commit({past, future});
    const auto store = open(destination());
    EXPECT_EQ(deliver(*store).size(), 2U);
    clean({store.get()}, kDecade);
    EXPECT_EQ(harness_->kept(), 2U);
    for (int i = 0; i < 2; ++i) {
        harness_->clock->advance(2 * kDecade);
        clean({store.get()}, kDecade);
    }
    EXPECT_EQ(harness_->kept(), 0U);
}

TEST_P(StoreSuite, CleansUpInBoundedPieces) {
    harness_->commit(std::vector<Message>(10, message("t", "a", "x")));
    const auto store = open(destination());
    EXPECT_EQ(deliver(*store).size(), 10U);
    harness_->clock->advance(seconds(100));
    const Result<std::uint64_t> removed = admin()->clean_up(Duration::zero(), 4);
    ASSERT_TRUE(removed);
    EXPECT_LE(*removed, 4U);
    clean({store.get()});
    EXPECT_EQ(harness_->kept(), 0U);
}

TEST_P(StoreSuite, CleansUpNothingWhileThereIsNoDestination) {
    harness_->commit({message("t", "a", "1")});
    harness_->clock->advance(seconds(100));
    clean({});
    EXPECT_EQ(deliver(*open(destination())), Payloads{"1"});
}

TEST_P(StoreSuite, NeverUsesANumberTwiceAfterCleanUp) {
    harness_->commit({message("t", "a", "1"), message("t", "a", "2")});
    const auto store = open(destination());
    EXPECT_EQ(deliver(*store).size(), 2U);
    harness_->clock->advance(seconds(100));
    clean({store.get()});
    EXPECT_EQ(harness_->kept(), 0U);
    harness_->commit({message("t", "a", "3")});
    EXPECT_EQ(deliver(*store), Payloads{"3"});
}

TEST_P(StoreSuite, DeliversThroughManyRoundsOfCleanUp) {
    const auto store = open(destination());
    for (int i = 0; i < 20; ++i) {
        harness_->commit({message("t", "a", std::to_string(i))});
        EXPECT_EQ(deliver(*store), Payloads{std::to_string(i)});
        harness_->clock->advance(seconds(10));
        clean({store.get()});
    }
    EXPECT_LE(harness_->kept(), 1U);
}

TEST_P(StoreSuite, KeepsThePlaceOfADestinationThatIsGone) {
    harness_->commit({message("t", "a", "1")});
    EXPECT_EQ(deliver(*open(destination("gone"))), Payloads{"1"});
    harness_->commit({message("t", "a", "2")});
    harness_->clock->advance(seconds(100));
    clean({});
    EXPECT_GE(harness_->kept(), 1U) << "it holds back clean-up";
    EXPECT_EQ(deliver(*open(destination("gone"))), Payloads{"2"});
}

TEST_P(StoreSuite, KnowsItsSchema) {
    const Result<SchemaVersion> version = admin()->schema_version();
    ASSERT_TRUE(version);
    EXPECT_EQ(version->installed, version->newest);
    const Result<SchemaVersion> again = admin()->migrate();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->installed, version->newest);
    EXPECT_FALSE(admin()->schema_text().empty());
}

}  // namespace outrider
