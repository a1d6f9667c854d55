#include "inbox/inbox_suite.h"

#include <atomic>
#include <latch>
#include <thread>

#include "outrider/error.h"

namespace outrider {
namespace {

Message message(std::string payload) {
    Message message;
    message.topic = "receipts";
    message.payload = std::move(payload);
    return message;
}

Remedy remedy_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Failure& failure) {
        return failure.remedy();
    }
    ADD_FAILURE() << "it was accepted";
    return Remedy::call;
}

}  // namespace

TEST_P(InboxSuite, RunsTheEffectOnceHoweverOftenTheMessageArrives) {
    const MessageId id = MessageId::generate();
    EXPECT_TRUE(take(id).first);
    for (int i = 0; i < 4; ++i) EXPECT_FALSE(take(id));
    EXPECT_EQ(count("effect"), 1);
    EXPECT_EQ(count(harness_->records), 1);
}

TEST_P(InboxSuite, CommitsRecordEffectAndOutgoingMessagesTogetherOrNotAtAll) {
    const MessageId id = MessageId::generate();
    const auto both = [&] {
        effect_of(*session_, id)();
        session_->enqueue(message("charged"));
    };
    session_->begin();
    EXPECT_TRUE(session_->once("billing", id, both, {}));
    session_->roll_back();
    EXPECT_EQ(count("effect") + count(harness_->records) + count(harness_->messages), 0);
    session_->begin();
    EXPECT_TRUE(session_->once("billing", id, both, {})) << "what was rolled back never happened";
    session_->commit();
    EXPECT_EQ(count("effect"), 1);
    EXPECT_EQ(count(harness_->records), 1);
    EXPECT_EQ(count(harness_->messages), 1);
}

TEST_P(InboxSuite, ARepeatDoesNotPoisonTheTransaction) {
    const MessageId id = MessageId::generate();
    take(id);
    session_->begin();
    session_->run("insert into effect (id) values ('before')");
    EXPECT_FALSE(session_->once("billing", id, effect_of(*session_, id), {}));
    session_->run("insert into effect (id) values ('after')");
    session_->commit();
    EXPECT_EQ(count("effect"), 3);
}

TEST_P(InboxSuite, ThirtyTwoSimultaneousCopiesGiveOneEffect) {
    constexpr int kCopies = 32;
    std::vector<std::unique_ptr<InboxSession>> sessions;
    for (int i = 0; i < kCopies; ++i) sessions.push_back(harness_->connect());
    for (int round = 1; round <= 3; ++round) {
        const MessageId id = MessageId::generate();
        std::latch ready(kCopies);
        std::atomic<int> first = 0;
        std::vector<std::jthread> threads;
        for (const auto& session : sessions) {
            threads.emplace_back([&] {
                ready.arrive_and_wait();
                if (take(*session, id, "billing").first) ++first;
            });
        }
        threads.clear();
        EXPECT_EQ(first, 1);
        EXPECT_EQ(count("effect"), round);
    }
}

TEST_P(InboxSuite, ACopyHasTheEffectWhenTheFirstRollsBack) {
    const MessageId id = MessageId::generate();
    const auto other = harness_->connect();
    session_->begin();
    EXPECT_TRUE(session_->once("billing", id, effect_of(*session_, id), {}));
    std::atomic<bool> second = false;
    std::jthread copy([&] { second = take(*other, id, "billing").first; });
    session_->roll_back();
    copy.join();
    EXPECT_TRUE(second);
    EXPECT_EQ(count("effect"), 1);
}

TEST_P(InboxSuite, ConsumersDoNotKnowEachOther) {
    const MessageId id = MessageId::generate();
    EXPECT_TRUE(take(id, "billing"));
    EXPECT_TRUE(take(id, "shipping"));
    EXPECT_FALSE(take(id, "billing"));
    EXPECT_EQ(count("effect"), 2);
}

TEST_P(InboxSuite, AnEffectThatThrowsLeavesNothingThatCouldBeCommitted) {
    const MessageId id = MessageId::generate();
    session_->begin();
    const auto half = [&] {
        effect_of(*session_, id)();
        throw std::runtime_error("the card was declined");
    };
    EXPECT_THROW(session_->once("billing", id, half, {}), std::runtime_error);
    session_->commit();  // a caller who forgets to roll back
    EXPECT_EQ(count("effect") + count(harness_->records), 0);
    EXPECT_TRUE(take(id));
}

TEST_P(InboxSuite, ARecordMayBeKeptForEver) {
    InboxOptions options;
    options.retention = Duration::max();
    const MessageId id = MessageId::generate();
    session_->begin();
    EXPECT_TRUE(session_->once("billing", id, effect_of(*session_, id), options));
    session_->commit();
    EXPECT_EQ(session_->clean_up(100), 0U);
    EXPECT_FALSE(take(id));
}

TEST_P(InboxSuite, AfterAThrowASavepointOfTheCallerSavesTheRest) {
    const MessageId good = MessageId::generate();
    const MessageId bad = MessageId::generate();
    session_->begin();
    EXPECT_TRUE(session_->once("billing", good, effect_of(*session_, good), {}));
    session_->run("savepoint mine");
    const auto fail = [] { throw std::runtime_error("no"); };
    EXPECT_THROW(session_->once("billing", bad, fail, {}), std::runtime_error);
    session_->run("rollback to mine");
    session_->commit();
    EXPECT_EQ(count("effect"), 1);
    EXPECT_FALSE(take(good));
    EXPECT_TRUE(take(bad));
}

TEST_P(InboxSuite, RefusesWhatCannotBeRemembered) {
    const MessageId id = MessageId::generate();
    bool ran = false;
    const auto effect = [&] { ran = true; };
    const auto once = [&](const std::string& consumer, const MessageId& which) {
        return remedy_of([&] { session_->once(consumer, which, effect, {}); });
    };
    EXPECT_EQ(once("billing", id), Remedy::correct) << "no transaction";
    session_->begin();
    EXPECT_EQ(once("billing", MessageId{}), Remedy::correct) << "no id";
    EXPECT_EQ(once("", id), Remedy::correct);
    EXPECT_EQ(once("two words", id), Remedy::correct);
    EXPECT_EQ(once(std::string(64, 'x'), id), Remedy::correct);
    session_->commit();
    EXPECT_FALSE(ran);
    EXPECT_EQ(count(harness_->records), 0);
}

TEST_P(InboxSuite, TellsWhichMessagesOfAKeyAreMissing) {
    const auto at = [](std::int64_t position, const std::string& key = "ada") {
        return Arrival(MessageId::generate(), "orders", key, position);
    };
    EXPECT_EQ(take(at(7)).missing, 0) << "the first that is known";
    EXPECT_EQ(take(at(8)).missing, 0);
    const Arrival gap = at(11);
    EXPECT_EQ(take(gap).missing, 2);
    EXPECT_EQ(take(gap).missing, 0) << "a repeat says nothing";
    const Receipt late = take(at(9));
    EXPECT_TRUE(late.first && late.late);
    EXPECT_EQ(late.missing, 0);
    EXPECT_EQ(take(at(12)).missing, 0) << "a late one does not set the key back";
    EXPECT_EQ(take(at(1, "grace")).missing, 0);
    EXPECT_EQ(take(at(3), "shipping").missing, 0) << "consumers do not know each other";
}

TEST_P(InboxSuite, RefusesAGapWhereAskedTo) {
    InboxOptions strict;
    strict.on_gap = OnGap::refuse;
    const auto at = [](std::int64_t position) {
        return Arrival(MessageId::generate(), "orders", "ada", position);
    };
    EXPECT_TRUE(take(*session_, at(1), "billing", strict));
    const Arrival third = at(3);
    session_->begin();
    const Remedy remedy = remedy_of([&] {
        session_->once("billing", third, effect_of(*session_, third.id), strict);
    });
    EXPECT_EQ(remedy, Remedy::wait);
    session_->roll_back();
    EXPECT_EQ(count("effect"), 1);
    EXPECT_TRUE(take(*session_, at(2), "billing", strict));
    EXPECT_EQ(take(*session_, third, "billing", strict).missing, 0);
    EXPECT_EQ(count("effect"), 3);
}

TEST_P(InboxSuite, ForgetsWhatHasExpiredInPiecesAndNothingElse) {
    const MessageId kept = MessageId::generate();
    take(kept);
    InboxOptions brief;
    brief.retention = Duration::zero();
    for (int i = 0; i < 25; ++i) {
        take(*session_, Arrival(MessageId::generate(), "t", "k", i), "brief", brief);
    }
    session_->run(
        "update " + harness_->records + " set expires_at = " + harness_->past +
        " where consumer = 'brief'"
    );
    EXPECT_EQ(session_->clean_up(10), 10U);
    EXPECT_EQ(count(harness_->records), 16);
    EXPECT_EQ(*harness_->admin()->clean_inbox(10), 10U) << "what a relay's keeper does";
    const std::uint64_t rest = session_->clean_up(10);
    EXPECT_TRUE(rest == 5 || rest == 6) << "five records, and a key's position if its time is over";
    EXPECT_EQ(count(harness_->records), 1);
    EXPECT_FALSE(take(kept)) << "what has not expired still counts";
}

TEST_P(InboxSuite, KnowsWhatOtherLanguagesHaveClaimed) {
    const MessageId by_sql = MessageId::generate();
    session_->begin();
    EXPECT_TRUE(session_->claim_in_sql("billing", by_sql));
    EXPECT_FALSE(session_->claim_in_sql("billing", by_sql));
    session_->commit();
    EXPECT_FALSE(take(by_sql));
    const MessageId by_us = MessageId::generate();
    take(by_us);
    session_->begin();
    EXPECT_FALSE(session_->claim_in_sql("billing", by_us));
    EXPECT_TRUE(session_->claim_in_sql("shipping", by_us));
    session_->roll_back();
}

}  // namespace outrider
