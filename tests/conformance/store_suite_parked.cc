#include "conformance/store_suite.h"
#include "core/hash.h"

// Messages that wait: when they come back, and whom they hold back.

namespace outrider {

using Payloads = std::vector<std::string>;
using std::chrono::seconds;

TEST_P(StoreSuite, BringsAParkedMessageBackWhenItIsDue) {
    harness_->commit({message("t", "k", "1")});
    const auto store = open(destination());
    settle(*store, claim(*store), [this](const Envelope& e) { return refused(e, seconds(10)); });
    const Batch early = claim(*store);
    EXPECT_TRUE(early.envelopes.empty());
    ASSERT_TRUE(early.next_due);
    EXPECT_EQ(*early.next_due, harness_->clock->wall() + seconds(10));
    harness_->clock->advance(seconds(10));
    const Batch due = claim(*store);
    ASSERT_EQ(payloads(due), Payloads{"1"});
    EXPECT_TRUE(due.envelopes[0].parked);
    EXPECT_EQ(due.envelopes[0].attempts, 1U);
    EXPECT_EQ(due.envelopes[0].refused_at, harness_->clock->wall() - seconds(10));
    EXPECT_FALSE(due.envelopes[0].deliver_after);
}

TEST_P(StoreSuite, ForgetsAParkedMessageOnceItIsDone) {
    harness_->commit({message("t", "k", "1")});
    const auto store = open(destination());
    settle(*store, claim(*store), [this](const Envelope& e) { return refused(e); });
    harness_->clock->advance(seconds(10));
    EXPECT_EQ(deliver(*store), Payloads{"1"});
    EXPECT_EQ(deliver(*store), Payloads{});
    EXPECT_EQ(status().parked, 0U);
    EXPECT_EQ(status().blocked_keys, 0U);
}

TEST_P(StoreSuite, CountsEveryRefusalOfAParkedMessage) {
    harness_->commit({message("t", "k", "1")});
    const auto store = open(destination());
    for (std::uint32_t attempts = 0; attempts < 5; ++attempts) {
        Batch batch = claim(*store);
        ASSERT_EQ(batch.envelopes.size(), 1U);
        EXPECT_EQ(batch.envelopes[0].attempts, attempts);
        settle(*store, std::move(batch), [this](const Envelope& e) { return refused(e); });
        harness_->clock->advance(seconds(10));
    }
}

TEST_P(StoreSuite, BlocksTheKeyOfAParkedMessageAndNoOther) {
    harness_->commit({message("t", "a", "a1"), message("t", "b", "b1")});
    const auto store = open(destination());
    settle(*store, claim(*store), [this](const Envelope& e) {
        return e.key == "a" ? refused(e) : done(e);
    });
    harness_->commit({message("t", "a", "a2"), message("t", "b", "b2"), message("u", "a", "ua")});
    const Batch batch = claim(*store);
    ASSERT_EQ(sorted(payloads(batch)), (Payloads{"a2", "b2", "ua"}));
    for (const Envelope& envelope : batch.envelopes) {
        EXPECT_EQ(envelope.blocked, envelope.payload == "a2") << envelope.payload;
    }
}

TEST_P(StoreSuite, BlocksNobodyBehindAMessageThatIsParkedOnItsOwn) {
    harness_->commit({message("t", "a", "a1")});
    const auto store = open(destination());
    settle(*store, claim(*store), [this](const Envelope& e) {
        Settlement settlement = refused(e);
        settlement.park_key = own_order_key(e.seq);
        return settlement;
    });
    harness_->commit({message("t", "a", "a2")});
    Batch batch = claim(*store);
    ASSERT_EQ(payloads(batch), Payloads{"a2"});
    EXPECT_FALSE(batch.envelopes[0].blocked);
    settle(*store, std::move(batch), done);
    harness_->clock->advance(seconds(10));
    EXPECT_EQ(deliver(*store), Payloads{"a1"});
}

TEST_P(StoreSuite, ReleasesTheChainOfAKeyInOrder) {
    harness_->commit({message("t", "a", "1"), message("t", "a", "2"), message("t", "a", "3")});
    const auto store = open(destination());
    settle(*store, claim(*store), [this](const Envelope& e) {
        return e.payload == "1" ? refused(e) : behind(e);
    });
    EXPECT_TRUE(claim(*store).envelopes.empty());
    EXPECT_EQ(status().parked, 3U);
    EXPECT_EQ(status().blocked_keys, 1U);
    harness_->clock->advance(seconds(10));
    // One that was refused goes alone; once it is through, the rest comes together.
    EXPECT_EQ(deliver(*store), Payloads{"1"});
    EXPECT_EQ(deliver(*store), (Payloads{"2", "3"}));
    EXPECT_EQ(status().parked, 0U);
}

TEST_P(StoreSuite, LetsNewMessagesFollowAChainThatIsClaimedWhole) {
    harness_->commit({message("t", "a", "1")});
    const auto store = open(destination());
    settle(*store, claim(*store), [this](const Envelope& e) { return behind(e); });
    harness_->commit({message("t", "a", "2")});
    Batch batch = claim(*store);
    ASSERT_EQ(payloads(batch), (Payloads{"1", "2"}));
    EXPECT_TRUE(batch.envelopes[0].parked);
    EXPECT_FALSE(batch.envelopes[1].parked);
    EXPECT_FALSE(batch.envelopes[1].blocked);
    settle(*store, std::move(batch), done);
    EXPECT_EQ(deliver(*store), Payloads{});
}

TEST_P(StoreSuite, BlocksNewMessagesBehindAChainThatIsClaimedInPart) {
    std::vector<Message> messages;
    for (int i = 0; i < 20; ++i) messages.push_back(message("t", "a", std::to_string(i)));
    harness_->commit(messages);
    const auto store = open(destination());
    settle(*store, claim(*store), [this](const Envelope& e) { return behind(e); });
    harness_->commit({message("t", "a", "new")});
    Batch batch = claim(*store, 10);
    ASSERT_GE(batch.envelopes.size(), 2U);
    EXPECT_TRUE(batch.full);
    const Envelope& last = batch.envelopes.back();
    EXPECT_EQ(last.payload, "new");
    EXPECT_TRUE(last.blocked);
    settle(*store, std::move(batch), [this](const Envelope& e) {
        return e.parked ? done(e) : behind(e);
    });
    Payloads rest;
    for (Payloads piece = deliver(*store, 10); !piece.empty(); piece = deliver(*store, 10)) {
        rest.insert(rest.end(), piece.begin(), piece.end());
    }
    EXPECT_EQ(rest.back(), "new");
    EXPECT_EQ(status().parked, 0U);
}

TEST_P(StoreSuite, LeavesAParkedMessageThatIsLeft) {
    harness_->commit({message("t", "a", "1"), message("t", "a", "2")});
    const auto store = open(destination());
    settle(*store, claim(*store), [this](const Envelope& e) { return behind(e); });
    settle(*store, claim(*store), [](const Envelope& e) {
        return e.payload == "1" ? done(e) : left(e);
    });
    EXPECT_EQ(deliver(*store), Payloads{"2"});
}

TEST_P(StoreSuite, SharesABatchBetweenWaitingAndNewMessages) {
    std::vector<Message> waiting;
    std::vector<Message> fresh;
    for (int i = 0; i < 20; ++i) {
        waiting.push_back(message("t", "w" + std::to_string(i), "waiting"));
        fresh.push_back(message("t", "n" + std::to_string(i), "new"));
    }
    harness_->commit(waiting);
    const auto store = open(destination());
    settle(*store, claim(*store), [this](const Envelope& e) { return behind(e); });
    harness_->commit(fresh);
    const Payloads first = deliver(*store, 10);
    EXPECT_EQ(std::count(first.begin(), first.end(), "waiting"), 5);
    EXPECT_EQ(std::count(first.begin(), first.end(), "new"), 5);
}

TEST_P(StoreSuite, TellsOfMessagesThatAreNotDueYet) {
    Message later = message("t", "a", "later");
    later.deliver_after = harness_->clock->wall() + seconds(60);
    Message past = message("t", "b", "past");
    past.deliver_after = harness_->clock->wall() - seconds(60);
    harness_->commit({later, past});
    const auto store = open(destination());
    Batch batch = claim(*store);
    ASSERT_EQ(sorted(payloads(batch)), (Payloads{"later", "past"}));
    for (const Envelope& envelope : batch.envelopes) {
        const bool is_later = envelope.payload == "later";
        EXPECT_EQ(envelope.deliver_after, is_later ? later.deliver_after : std::nullopt);
    }
    settle(*store, std::move(batch), [&](const Envelope& e) {
        Settlement settlement = behind(e);
        if (!e.deliver_after) return done(e);
        settlement.due_at = *e.deliver_after;
        return settlement;
    });
    EXPECT_TRUE(claim(*store).envelopes.empty());
    harness_->clock->advance(seconds(60));
    EXPECT_EQ(deliver(*store), Payloads{"later"});
}

TEST_P(StoreSuite, KeepsParkedMessagesWhenTheLogIsCleanedUp) {
    harness_->commit({message("t", "a", "1")});
    const auto store = open(destination());
    settle(*store, claim(*store), [this](const Envelope& e) { return refused(e); });
    harness_->clock->advance(seconds(5));
    clean({store.get()});
    EXPECT_EQ(harness_->kept(), 0U);
    harness_->clock->advance(seconds(5));
    EXPECT_EQ(deliver(*store), Payloads{"1"});
}

TEST_P(StoreSuite, SaysThatMoreKeysAreDueThanItTook) {
    std::vector<Message> messages;
    for (int i = 0; i < 40; ++i) messages.push_back(message("t", "k" + std::to_string(i), "x"));
    harness_->commit(messages);
    const auto store = open(destination());
    for (Batch batch = claim(*store, 40); !batch.envelopes.empty(); batch = claim(*store, 40)) {
        settle(*store, std::move(batch), [this](const Envelope& e) { return behind(e); });
        if (status().parked == 40) break;
    }
    ASSERT_EQ(status().parked, 40U);
    const Batch some = claim(*store, 16);
    EXPECT_FALSE(some.envelopes.empty());
    EXPECT_LT(some.envelopes.size(), 40U);
    EXPECT_TRUE(some.full);
}

}  // namespace outrider
