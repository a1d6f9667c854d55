#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

#include "outrider/error.h"
#include "outrider/transactional.h"
#include "outrider/unit_of_work.h"

// What the three styles promise, for every client library alike. A client is a struct with:
//   begin(), begin_again()            a unit on its one connection
//   transactional(work, repeat)       in an isolation that notices a write after a read
//   sql(tx, text)                     runs a statement in the transaction, throws in its own way
//   explicitly(message, commits)      begin, insert an order, enqueue, commit or rollback: by hand
//   alone(message)                    enqueue without a transaction, where that compiles
//   behind_its_back(text)             a statement on the connection itself
//   other(text)                       the first value, seen from another connection
//   payloads()                        all committed ones in order, joined by commas
namespace outrider {

inline Message app_message(std::string payload) {
    Message message;
    message.topic = "orders";
    message.key = "ada";
    message.payload = std::move(payload);
    return message;
}

struct OrderPaid {
    int order = 0;
};

inline Message to_message(const OrderPaid& event) {
    Message message = app_message("paid " + std::to_string(event.order));
    message.type = "order.paid.v1";
    return message;
}

inline std::string app_failure(const std::function<void()>& call) {
    try {
        call();
    } catch (const Failure& failure) {
        return failure.what();
    }
    return "nothing was thrown";
}

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

class Purchase : public DomainEvents {
public:
    explicit Purchase(int id) : id_(id) {}
    void pay() { record(OrderPaid{id_}); }
    void note(const std::string& text) { record(app_message(text)); }

private:
    int id_;
};

template <class Client>
class UnitSuite : public ::testing::Test {
protected:
    UnitSuite() { client.behind_its_back("create table orders (id integer, n integer)"); }
    Client client;
    std::string orders() { return client.other("select count(*) from orders"); }
};

TYPED_TEST_SUITE_P(UnitSuite);

TYPED_TEST_P(UnitSuite, ExplicitEnqueueCommitsAndRollsBackWithTheRows) {
    this->client.explicitly(app_message("kept"), true);
    this->client.explicitly(app_message("gone"), false);
    EXPECT_EQ(this->orders(), "1");
    EXPECT_EQ(this->client.payloads(), "kept");
}

TYPED_TEST_P(UnitSuite, EnqueueWithoutATransactionIsRefused) {
    const std::string text = app_failure([&] { this->client.alone(app_message("1")); });
    EXPECT_SAYS(text, "transaction");
    EXPECT_EQ(this->client.payloads(), "");
}

TYPED_TEST_P(UnitSuite, UnitCommitsRowsAndMessagesTogether) {
    auto unit = this->client.begin();
    this->client.sql(unit, "insert into orders values (1, 0)");
    const MessageId id = unit.enqueue(app_message("a"));
    enqueue(unit, OrderPaid{1});
    enqueue(unit, app_message("b"));
    EXPECT_FALSE(id.is_nil());
    EXPECT_EQ(unit.pending().size(), 3U);
    unit.commit();
    EXPECT_FALSE(unit.is_open());
    EXPECT_EQ(this->orders(), "1");
    EXPECT_EQ(this->client.payloads(), "a,paid 1,b");
}

TYPED_TEST_P(UnitSuite, UnitWritesMessagesAtItsCommitOnly) {
    auto unit = this->client.begin();
    unit.enqueue(app_message("a"));
    this->client.sql(
        unit, std::string("insert into orders select 1, count(*) from ") + TypeParam::kTable
    );
    unit.commit();
    EXPECT_EQ(this->client.other("select n from orders"), "0");
    EXPECT_EQ(this->client.payloads(), "a");
}

TYPED_TEST_P(UnitSuite, UnitIsRolledBackByItsDestructorOrByHand) {
    {
        auto unit = this->client.begin();
        this->client.sql(unit, "insert into orders values (1, 0)");
        unit.enqueue(app_message("a"));
    }
    auto unit = this->client.begin();
    this->client.sql(unit, "insert into orders values (1, 0)");
    unit.enqueue(app_message("b"));
    unit.rollback();
    unit.rollback();  // once more is fine
    EXPECT_EQ(this->orders(), "0");
    EXPECT_EQ(this->client.payloads(), "");
}

TYPED_TEST_P(UnitSuite, TwoUnitsOnOneConnectionAreRefused) {
    auto unit = this->client.begin();
    this->client.sql(unit, "insert into orders values (1, 0)");
    unit.enqueue(app_message("a"));
    const std::string text = app_failure([&] { auto second = this->client.begin(); });
    EXPECT_SAYS(text, "not nest");
    unit.commit();  // the first has not suffered
    EXPECT_EQ(this->orders(), "1");
    EXPECT_EQ(this->client.payloads(), "a");
}

TYPED_TEST_P(UnitSuite, UseAfterTheEndIsRefused) {
    auto unit = this->client.begin();
    unit.commit();
    Purchase order(1);
    EXPECT_SAYS(app_failure([&] { unit.enqueue(app_message("a")); }), "it was committed");
    EXPECT_SAYS(app_failure([&] { unit.commit(); }), "it was committed");
    EXPECT_SAYS(app_failure([&] { (void)unit.handle(); }), "it was committed");
    EXPECT_SAYS(app_failure([&] { unit.track(order); }), "it was committed");
    auto rolled_back = this->client.begin();
    rolled_back.rollback();
    EXPECT_SAYS(app_failure([&] { rolled_back.commit(); }), "it was rolled back");
    EXPECT_EQ(this->client.payloads(), "");
}

TYPED_TEST_P(UnitSuite, AMovedUnitGoesOnAndItsShellIsRefused) {
    auto shell = this->client.begin();
    shell.enqueue(app_message("a"));
    auto unit = std::move(shell);
    EXPECT_FALSE(shell.is_open());
    EXPECT_SAYS(app_failure([&] { shell.enqueue(app_message("b")); }), "moved from");
    EXPECT_SAYS(app_failure([&] { shell.commit(); }), "moved from");
    EXPECT_SAYS(app_failure([&] { (void)shell.handle(); }), "moved from");
    shell.rollback();  // nothing to roll back, and the unit does not care
    unit.enqueue(app_message("c"));
    unit.commit();
    EXPECT_EQ(this->client.payloads(), "a,c");
}

TYPED_TEST_P(UnitSuite, ABadMessageIsRefusedWhereItIsEnqueued) {
    auto unit = this->client.begin();
    Message bad = app_message("x");
    bad.topic = "";
    EXPECT_SAYS(app_failure([&] { unit.enqueue(bad); }), "message.topic is empty");
    unit.enqueue(app_message("good"));
    unit.commit();
    EXPECT_EQ(this->client.payloads(), "good");
}

TYPED_TEST_P(UnitSuite, ACommitBehindTheUnitsBackIsNoticed) {
    auto unit = this->client.begin();
    this->client.sql(unit, "insert into orders values (1, 0)");
    unit.enqueue(app_message("a"));
    this->client.behind_its_back("commit");
    EXPECT_NE(app_failure([&] { unit.commit(); }), "nothing was thrown");
    EXPECT_EQ(this->client.payloads(), "");
}

TYPED_TEST_P(UnitSuite, TransactionalCommitsAndReturnsWhatItsWorkReturns) {
    const std::string result = this->client.transactional([&](auto& tx) {
        this->client.sql(tx, "insert into orders values (1, 0)");
        tx.enqueue(app_message("a"));
        return std::string("done");
    });
    EXPECT_EQ(result, "done");
    this->client.transactional([&](auto& tx) { tx.enqueue(OrderPaid{2}); });
    EXPECT_EQ(this->orders(), "1");
    EXPECT_EQ(this->client.payloads(), "a,paid 2");
}

TYPED_TEST_P(UnitSuite, TransactionalRollsBackAndPassesTheExceptionOn) {
    int runs = 0;
    const auto work = [&](auto& tx) {
        ++runs;
        this->client.sql(tx, "insert into orders values (1, 0)");
        tx.enqueue(app_message("a"));
        throw std::logic_error("no such customer");
    };
    EXPECT_THROW(this->client.transactional(work), std::logic_error);
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(this->orders(), "0");
    EXPECT_EQ(this->client.payloads(), "");
}

TYPED_TEST_P(UnitSuite, TransactionalRunsAgainWhenItMetAnother) {
    this->client.behind_its_back("insert into orders values (1, 0)");
    int runs = 0;
    this->client.transactional([&](auto& tx) {
        this->client.sql(tx, "select n from orders");
        if (++runs == 1) this->client.other("update orders set n = n + 10");
        this->client.sql(tx, "update orders set n = n + 1");
        tx.enqueue(app_message("run " + std::to_string(runs)));
    });
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(this->client.other("select n from orders"), "11");
    EXPECT_EQ(this->client.payloads(), "run 2");
}

TYPED_TEST_P(UnitSuite, TransactionalGivesUpAtItsLimitAndSaysSo) {
    this->client.behind_its_back("insert into orders values (1, 0)");
    Repeat repeat;
    repeat.tries_max = 3;
    int runs = 0;
    const std::string text = app_failure([&] {
        this->client.transactional(
            [&](auto& tx) {
                ++runs;
                this->client.sql(tx, "select n from orders");
                this->client.other("update orders set n = n + 10");
                this->client.sql(tx, "update orders set n = n + 1");
                tx.enqueue(app_message("never"));
            },
            repeat
        );
    });
    EXPECT_SAYS(text, "given up after 3 tries");
    EXPECT_EQ(runs, 3);
    EXPECT_EQ(this->client.other("select n from orders"), "30");
    EXPECT_EQ(this->client.payloads(), "");
}

TYPED_TEST_P(UnitSuite, EventsOfTrackedEntitiesAreSentInOrderAndOnce) {
    Purchase first(1);
    Purchase second(2);
    first.note("early");
    auto unit = this->client.begin();
    unit.track(first);
    unit.track(second);
    unit.track(first);  // once more changes nothing
    second.pay();
    unit.enqueue(app_message("direct"));
    first.pay();
    unit.commit();
    EXPECT_EQ(this->client.payloads(), "early,paid 2,direct,paid 1");
    EXPECT_TRUE(first.recorded().empty());
    auto next = this->client.begin();
    next.track(first);
    next.commit();
    EXPECT_EQ(this->client.payloads(), "early,paid 2,direct,paid 1");
}

TYPED_TEST_P(UnitSuite, EventsOfARolledBackUnitAreNotSent) {
    Purchase order(1);
    order.note("before");
    {
        auto unit = this->client.begin();
        unit.track(order);
        order.pay();
    }
    EXPECT_EQ(this->client.payloads(), "");
    EXPECT_EQ(order.recorded().size(), 1U);  // what it had before is there for another try
    auto unit = this->client.begin();
    unit.track(order);
    unit.commit();
    EXPECT_EQ(this->client.payloads(), "before");
}

REGISTER_TYPED_TEST_SUITE_P(
    UnitSuite,
    ExplicitEnqueueCommitsAndRollsBackWithTheRows,
    EnqueueWithoutATransactionIsRefused,
    UnitCommitsRowsAndMessagesTogether,
    UnitWritesMessagesAtItsCommitOnly,
    UnitIsRolledBackByItsDestructorOrByHand,
    TwoUnitsOnOneConnectionAreRefused,
    UseAfterTheEndIsRefused,
    AMovedUnitGoesOnAndItsShellIsRefused,
    ABadMessageIsRefusedWhereItIsEnqueued,
    ACommitBehindTheUnitsBackIsNoticed,
    TransactionalCommitsAndReturnsWhatItsWorkReturns,
    TransactionalRollsBackAndPassesTheExceptionOn,
    TransactionalRunsAgainWhenItMetAnother,
    TransactionalGivesUpAtItsLimitAndSaysSo,
    EventsOfTrackedEntitiesAreSentInOrderAndOnce,
    EventsOfARolledBackUnitAreNotSent
);

}  // namespace outrider
