#include <limits>

#include "conformance/store_suite.h"

// Dead letters: kept, listed, replayed, discarded; and keys that wait for them.

namespace outrider {

using Payloads = std::vector<std::string>;
using std::chrono::seconds;

TEST_P(StoreSuite, ListsADeadLetterWithEverythingAnOperatorNeeds) {
    Message doomed = message("t", "k", std::string("\0body", 5));
    doomed.id = MessageId::generate();
    doomed.type = "order";
    doomed.content_type = "text/plain";
    doomed.headers = {{"a", "b"}};
    harness_->commit({doomed});
    const auto store = open(destination());
    settle(*store, claim(*store), [](const Envelope& e) { return dead(e); });
    EXPECT_EQ(deliver(*store), Payloads{});
    const auto listed = admin()->dead_letters({});
    ASSERT_TRUE(listed);
    ASSERT_EQ(listed->size(), 1U);
    EXPECT_EQ(listed->at(0).destination, "all");
    EXPECT_EQ(listed->at(0).id, *doomed.id);
    EXPECT_EQ(listed->at(0).topic, "t");
    EXPECT_EQ(listed->at(0).key, "k");
    EXPECT_EQ(listed->at(0).attempts, 1U);
    EXPECT_EQ(listed->at(0).error, "no good");
    EXPECT_EQ(listed->at(0).payload, "");
    const auto shown = admin()->dead_letter(*doomed.id);
    ASSERT_TRUE(shown);
    ASSERT_EQ(shown->size(), 1U);
    EXPECT_EQ(shown->at(0).payload, doomed.payload);
    EXPECT_EQ(shown->at(0).headers, doomed.headers);
    EXPECT_EQ(shown->at(0).content_type, "text/plain");
    EXPECT_EQ(status().dead, 1U);
}

TEST_P(StoreSuite, LetsTheKeyOfADeadLetterGoOn) {
    harness_->commit({message("t", "a", "1"), message("t", "a", "2")});
    const auto store = open(destination());
    settle(*store, claim(*store), [this](const Envelope& e) {
        return e.payload == "1" ? dead(e) : behind(e);
    });
    EXPECT_EQ(deliver(*store), Payloads{"2"});
}

TEST_P(StoreSuite, HoldsTheKeyOfADeadLetterUntilItIsReplayed) {
    harness_->commit({message("t", "a", "1"), message("t", "a", "2")});
    const auto store = open(destination());
    settle(*store, claim(*store), [this](const Envelope& e) {
        return e.payload == "1" ? dead(e, true) : behind(e);
    });
    harness_->commit({message("t", "a", "3"), message("t", "b", "other")});
    harness_->clock->advance(seconds(1000));
    Batch batch = claim(*store);
    ASSERT_EQ(sorted(payloads(batch)), (Payloads{"3", "other"}));
    for (const Envelope& envelope : batch.envelopes) {
        EXPECT_EQ(envelope.blocked, envelope.payload == "3");
    }
    settle(*store, std::move(batch), [this](const Envelope& e) {
        return e.blocked ? behind(e) : done(e);
    });
    EXPECT_TRUE(claim(*store).envelopes.empty());
    DeadFilter all;
    all.limit = std::numeric_limits<std::size_t>::max();  // as the command line says "all"
    const auto replayed = admin()->replay_dead(all);
    ASSERT_TRUE(replayed);
    EXPECT_EQ(*replayed, 1U);
    EXPECT_EQ(deliver(*store), (Payloads{"1", "2", "3"}));
    EXPECT_EQ(status().dead, 0U);
}

TEST_P(StoreSuite, HoldsTheKeyOfADeadLetterUntilItIsDiscarded) {
    harness_->commit({message("t", "a", "1"), message("t", "a", "2")});
    const auto store = open(destination());
    settle(*store, claim(*store), [this](const Envelope& e) {
        return e.payload == "1" ? dead(e, true) : behind(e);
    });
    EXPECT_TRUE(claim(*store).envelopes.empty());
    EXPECT_EQ(status().blocked_keys, 1U);
    ASSERT_TRUE(admin()->discard_dead({}));
    EXPECT_EQ(deliver(*store), Payloads{"2"});
    EXPECT_EQ(status().blocked_keys, 0U);
}

TEST_P(StoreSuite, ReplaysWithTheSameIdAndAFreshCount) {
    harness_->commit({message("t", "a", "1")});
    const auto store = open(destination());
    Batch first = claim(*store);
    const MessageId id = first.envelopes.at(0).id;
    settle(*store, std::move(first), [this](const Envelope& e) { return refused(e); });
    harness_->clock->advance(seconds(10));
    settle(*store, claim(*store), [](const Envelope& e) { return dead(e); });
    EXPECT_EQ(status().parked, 0U);
    ASSERT_TRUE(admin()->replay_dead({}));
    const Batch again = claim(*store);
    ASSERT_EQ(again.envelopes.size(), 1U);
    EXPECT_EQ(again.envelopes[0].id, id);
    EXPECT_EQ(again.envelopes[0].attempts, 0U);
    EXPECT_FALSE(again.envelopes[0].refused_at);
}

TEST_P(StoreSuite, ReplaysAtOnceWhatWasDelayed) {
    Message later = message("t", "a", "1");
    later.deliver_after = harness_->clock->wall() + seconds(1000);
    harness_->commit({later});
    const auto store = open(destination());
    settle(*store, claim(*store), [](const Envelope& e) { return dead(e); });
    ASSERT_TRUE(admin()->replay_dead({}));
    const Batch batch = claim(*store);
    ASSERT_EQ(batch.envelopes.size(), 1U);
    EXPECT_FALSE(batch.envelopes[0].deliver_after);
}

TEST_P(StoreSuite, FindsDeadLettersByDestinationTopicKeyAndId) {
    harness_->commit({message("a.x", "k1", "1"), message("a.y", "k2", "2"), message("b", "", "3")});
    const auto first = open(destination("first"));
    const auto second = open(destination("second"));
    settle(*first, claim(*first), [](const Envelope& e) { return dead(e); });
    settle(*second, claim(*second), [](const Envelope& e) { return dead(e); });
    const auto count = [this](const DeadFilter& filter) {
        const auto found = admin()->dead_letters(filter);
        return found ? found->size() : 999;
    };
    EXPECT_EQ(count({}), 6U);
    EXPECT_EQ(count({.destination = "first"}), 3U);
    EXPECT_EQ(count({.destination = "nobody"}), 0U);
    EXPECT_EQ(count({.topic = "a.*"}), 4U);
    EXPECT_EQ(count({.destination = "second", .topic = "a.*"}), 2U);
    EXPECT_EQ(count({.key = "k2"}), 2U);
    EXPECT_EQ(count({.limit = 4}), 4U);
    const auto all = admin()->dead_letters({});
    EXPECT_EQ(count({.id = all->at(0).id}), 2U);
    EXPECT_EQ(count({.id = MessageId::generate()}), 0U);
    const auto discarded = admin()->discard_dead({.destination = "first", .topic = "a.*"});
    ASSERT_TRUE(discarded);
    EXPECT_EQ(*discarded, 2U);
    EXPECT_EQ(count({}), 4U);
}

TEST_P(StoreSuite, KeepsDeadLettersWhenTheLogIsCleanedUp) {
    harness_->commit({message("t", "a", "1")});
    const auto store = open(destination());
    settle(*store, claim(*store), [](const Envelope& e) { return dead(e); });
    harness_->clock->advance(seconds(100));
    clean({store.get()});
    EXPECT_EQ(harness_->kept(), 0U);
    ASSERT_TRUE(admin()->replay_dead({}));
    EXPECT_EQ(deliver(*store), Payloads{"1"});
}

}  // namespace outrider
