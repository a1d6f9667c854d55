// The kit for users' tests, on SQLite and in memory.

#include <gtest/gtest.h>

#include "outrider/sqlite_store.h"
#include "outrider/testing.h"

#include "app/sqlite_side.h"
#include "app/unit_suite.h"
#include "support/sqlite_session.h"

namespace outrider {
namespace {

namespace kit = outrider::testing;

Message rich() {
    Message message = app_message(std::string("\0\xff", 2));
    message.type = "order.placed.v1";
    message.content_type = "application/x-shop";
    message.headers = {{"traceparent", "00-1"}, {"b", "\"two\""}};
    message.occurred_at = WallTime(std::chrono::milliseconds(1'700'000'000'123));
    return message;
}

TEST(EnqueueWatch, SeesWhatATransactionEnqueuedAndForgetsARollback) {
    const SqliteSide side;
    const SqliteSession session(side.path());
    session.run("begin");
    enqueue(session.get(), app_message("before"));
    session.run("commit");

    const kit::EnqueueWatch watch(session.get());
    EXPECT_TRUE(watch.messages().empty());
    session.run("begin");
    const MessageId id = enqueue(session.get(), rich());
    ASSERT_EQ(watch.messages().size(), 1U);
    const Message seen = watch.messages().front();
    EXPECT_EQ(seen.id, id);
    EXPECT_EQ(seen.payload, rich().payload);
    EXPECT_EQ(seen.headers, rich().headers);
    EXPECT_EQ(seen.occurred_at, rich().occurred_at);
    EXPECT_EQ(
        kit::difference(watch.messages(), {{.topic = "orders", .type = "order.placed.v1"}}), ""
    );
    session.run("rollback");
    EXPECT_EQ(kit::difference(watch.messages(), {}), "");
}

TEST(Difference, NamesWhatIsWrong) {
    const std::vector<Message> messages = {app_message("a"), app_message("b")};
    EXPECT_EQ(kit::difference(messages, {{.topic = "orders"}, {.topic = "orders"}}), "");
    EXPECT_EQ(
        kit::difference(messages, {{.topic = "orders", .payload = "x"}, {.topic = "orders"}}),
        "message 1: payload is 'a', expected 'x'\n"
    );
    EXPECT_EQ(
        kit::difference(messages, {{.topic = "orders"}}),
        "message 2 was not expected: topic 'orders', payload 'b'\n"
    );
    EXPECT_EQ(kit::difference({}, {{.topic = "orders"}}), "message 1 is missing: topic 'orders'\n");
}

TEST(Drain, DeliversWhatIsDueInTheCallingThread) {
    const SqliteSide side;
    const SqliteSession session(side.path());
    auto unit = begin(session.get());
    unit.enqueue(app_message("1"));
    unit.enqueue(app_message("2"));
    unit.commit();
    const kit::MemoryBroker broker;
    const auto store = sqlite::open_store(side.path());
    kit::drain(store, broker.driver());
    ASSERT_EQ(broker.received().size(), 2U);
    EXPECT_EQ(broker.received()[1].payload, "2");
    kit::drain(store, broker.driver());
    EXPECT_EQ(broker.received().size(), 2U);
}

TEST(Drain, LeavesWhatWasRefusedAndTellsOfSilence) {
    kit::MemoryStore store;
    transactional(store, [](auto& tx) {
        tx.enqueue(app_message("good"));
        Message bad = app_message("bad");
        bad.key = "bob";
        tx.enqueue(bad);
    });
    const kit::MemoryBroker broker;
    kit::Fault fault = kit::Fault::refuse;
    const auto faulty = kit::faulty_broker(broker.driver(), [&](const Delivery& delivery) {
        return delivery.payload == "bad" ? fault : kit::Fault::none;
    });
    kit::drain(store.driver(), faulty);
    ASSERT_EQ(broker.received().size(), 1U);
    EXPECT_EQ(broker.received()[0].payload, "good");
    fault = kit::Fault::lose_message;
    transactional(store, [](auto& tx) {
        Message silent = app_message("bad");
        silent.key = "eve";
        tx.enqueue(silent);
    });
    EXPECT_SAYS(app_failure([&] { kit::drain(store.driver(), faulty); }), "did not answer");
}

TEST(MemoryUnit, IsAUnitLikeAnyOther) {
    kit::MemoryStore store;
    const kit::MemoryBroker broker;
    {
        auto unit = begin(store);
        unit.enqueue(app_message("gone"));
    }
    auto unit = begin(store);
    unit.enqueue(OrderPaid{1});
    EXPECT_EQ(kit::difference(unit.pending(), {{.topic = "orders", .payload = "paid 1"}}), "");
    unit.commit();
    EXPECT_SAYS(app_failure([&] { unit.enqueue(app_message("late")); }), "it was committed");
    kit::drain(store.driver(), broker.driver());
    ASSERT_EQ(broker.received().size(), 1U);
    EXPECT_EQ(broker.received()[0].payload, "paid 1");
}

TEST(MemoryUnit, FailsItsCommitsAsTheTestAsks) {
    kit::MemoryStore store;
    const kit::MemoryBroker broker;
    store.fail_commits({kit::CommitFault::conflict, kit::CommitFault::conflict});
    int runs = 0;
    transactional(store, [&](auto& tx) {
        ++runs;
        tx.enqueue(app_message("third time"));
    });
    EXPECT_EQ(runs, 3);
    store.fail_commits({kit::CommitFault::refuse});
    EXPECT_THROW(transactional(store, [](auto& tx) { tx.enqueue(app_message("never")); }), Failure);
    for (const auto fault : {kit::CommitFault::lose_answer, kit::CommitFault::lose_question}) {
        store.fail_commits({fault});
        try {
            transactional(store, [](auto& tx) { tx.enqueue(app_message("unknown")); });
            FAIL() << "it was answered";
        } catch (const CommitUnknown& unknown) {
            EXPECT_EQ(
                resolve(store, unknown),
                fault == kit::CommitFault::lose_answer ? CommitOutcome::committed
                                                       : CommitOutcome::rolled_back
            );
        }
    }
    kit::drain(store.driver(), broker.driver());
    EXPECT_EQ(broker.received().size(), 2U);
}

}  // namespace
}  // namespace outrider
