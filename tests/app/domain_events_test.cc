// Entities that record events, without a database.

#include "outrider/domain_events.h"

#include <type_traits>

#include <gtest/gtest.h>

#include "app/unit_suite.h"

namespace outrider {
namespace {

// A session that writes nowhere, and can be told how its commit ends.
class PaperSession final : public UnitSession {
public:
    explicit PaperSession(std::vector<std::string>& written) : written_(written) {}
    void commit(std::span<const Message> messages) override {
        if (ends) ends();
        for (const Message& message : messages) written_.push_back(message.payload);
    }
    void rollback() noexcept override {}
    [[nodiscard]] bool may_repeat(const std::exception&) const noexcept override { return false; }

    std::function<void()> ends;

private:
    std::vector<std::string>& written_;
};

class DomainEventsTest : public ::testing::Test {
protected:
    using Payloads = std::vector<std::string>;
    Payloads written;
    int handle = 0;

    UnitOfWork<int> begin(std::function<void()> ends = nullptr) {
        auto session = std::make_unique<PaperSession>(written);
        session->ends = std::move(ends);
        return {std::move(session), &handle, {}};
    }
};

static_assert(!std::is_copy_constructible_v<Purchase>, "which of two would have the events?");
static_assert(std::is_move_constructible_v<Purchase>);
static_assert(!std::is_move_assignable_v<Purchase>, "what would become of the events it had?");
static_assert(!std::is_copy_constructible_v<UnitOfWork<int>>);
static_assert(!std::is_move_assignable_v<UnitOfWork<int>>, "an open unit would vanish");
template <class Tx>
concept CanCommit = requires(Tx& tx) {
    tx.commit();
};
static_assert(!CanCommit<TransactionOn<int>>, "the work of transactional() must not commit");
template <class T>
concept CanEnqueue = requires(Transaction& tx, const T& event) {
    tx.enqueue(event);
};
static_assert(CanEnqueue<OrderPaid> && !CanEnqueue<int>, "only what has a to_message()");

TEST_F(DomainEventsTest, ACommitThatWroteSomethingIsTold) {
    Payloads told;
    const auto unit = [&](const char* payload) {
        EnqueueOptions options;
        options.committed = [&told, this] { told = written; };
        UnitOfWork<int> work(std::make_unique<PaperSession>(written), &handle, options);
        Message message;
        message.topic = "t";
        message.payload = payload;
        if (!message.payload.empty()) work.enqueue(message);
        return work;
    };
    unit("rolled back").rollback();
    unit("").commit();
    EXPECT_TRUE(told.empty());
    unit("1").commit();
    EXPECT_EQ(told, written) << "not before it is written";
    EXPECT_EQ(told.size(), 1U);
}

TEST_F(DomainEventsTest, OutliveTheirEntity) {
    auto unit = begin();
    {
        Purchase order(1);
        unit.track(order);
        order.pay();
    }
    unit.commit();
    EXPECT_EQ(written, Payloads{"paid 1"});
}

TEST_F(DomainEventsTest, MoveWithTheirEntity) {
    Purchase order(1);
    auto unit = begin();
    unit.track(order);
    order.pay();
    Purchase moved = std::move(order);
    moved.note("moved");
    order.note("a new life");  // the shell may be used again, and is not tracked
    unit.commit();
    EXPECT_EQ(written, (Payloads{"paid 1", "moved"}));
    EXPECT_EQ(order.recorded().size(), 1U);
}

// As transactional() does it: the entity lives on, and records again what was rolled back.
TEST_F(DomainEventsTest, RecordedBeforeTheyAreTrackedAreNotDoubledByAnotherRun) {
    Purchase order(1);
    order.note("before");
    {
        auto failing = begin([] { throw Failure({Remedy::yield, "again"}); });
        order.pay();
        failing.track(order);
        EXPECT_THROW(failing.commit(), Failure);
    }
    auto unit = begin();
    order.pay();
    unit.track(order);
    unit.commit();
    EXPECT_EQ(written, (Payloads{"before", "paid 1"}));
}

TEST_F(DomainEventsTest, ACommitStandsWhateverThrowsWhenItIsTold) {
    EnqueueOptions options;
    options.committed = [] { throw std::runtime_error("mine"); };
    UnitOfWork<int> unit(std::make_unique<PaperSession>(written), &handle, options);
    unit.enqueue(app_message("a"));
    EXPECT_NO_THROW(unit.commit());
    EXPECT_EQ(written, Payloads{"a"});
}

TEST_F(DomainEventsTest, BelongToOneTransactionAtATime) {
    Purchase order(1);
    auto unit = begin();
    auto second = begin();
    unit.track(order);
    EXPECT_SAYS(app_failure([&] { second.track(order); }), "another open transaction");
    order.pay();
    unit.commit();
    second.track(order);
    second.commit();
    EXPECT_EQ(written, Payloads{"paid 1"});
}

TEST_F(DomainEventsTest, StayWithTheEntityWhenTheCommitFailsOrIsNotAnswered) {
    Purchase order(1);
    order.note("before");
    const std::vector<Message> first = order.recorded();
    auto failing = begin([] { throw Failure({Remedy::yield, "no"}); });
    failing.track(order);
    order.pay();
    EXPECT_THROW(failing.commit(), Failure);
    auto unanswered = begin([] { throw CommitUnknown({}, "7"); });
    unanswered.track(order);
    EXPECT_THROW(unanswered.commit(), CommitUnknown);
    EXPECT_SAYS(app_failure([&] { unanswered.commit(); }), "not answered");
    auto unit = begin();
    unit.track(order);
    unit.commit();
    EXPECT_EQ(written, Payloads{"before"});
    EXPECT_TRUE(first[0].id.has_value());  // the same id, whoever sends it
}

TEST_F(DomainEventsTest, ThatCouldNeverBeWrittenAreRefusedWhenRecorded) {
    Purchase order(1);
    EXPECT_SAYS(
        app_failure([&] { order.note(std::string(kPayloadBytesCeiling + 1, 'x')); }),
        "message.payload"
    );
    EXPECT_TRUE(order.recorded().empty());
}

TEST_F(DomainEventsTest, TooLargeForTheUnitRollItBack) {
    Purchase order(1);
    order.note(std::string((1U << 20U) + 1, 'x'));
    auto unit = begin();
    unit.track(order);
    EXPECT_SAYS(app_failure([&] { unit.commit(); }), "message.payload");
    EXPECT_FALSE(unit.is_open());
    EXPECT_TRUE(written.empty());
}

}  // namespace
}  // namespace outrider
