#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "outrider/observer.h"
#include "outrider/relay.h"
#include "outrider/testing.h"

#include "core/broker.h"
#include "core/dice.h"
#include "relay/turn.h"
#include "table/outbox.h"

// Order per key, and what holds a key back, on a real server.

namespace outrider {
namespace {

using Numbers = std::vector<int>;

const Schema& keyed() {
    return schemas().at(2);  // efcore: a key, attempts, an error
}

TEST(TableOrder, ARowInOtherHandsHoldsBackItsKeyAndNobodyElses) {
    Outbox outbox(keyed());
    outbox.write(1, "a");
    outbox.write(2, "a");
    outbox.write(3, "b");
    const PostgresSession other(outbox.conninfo);
    other.run("begin");
    other.run("select from " + keyed().table + " where " + outbox.where(1) + " for update");
    const auto store = outbox.open(eager());
    EXPECT_EQ(numbers(claim(*store)), Numbers{3});
    other.run("rollback");
    EXPECT_EQ(numbers(claim(*store)), (Numbers{1, 2, 3}));
}

TEST(TableOrder, AStuckKeyHoldsBackNoRowWithoutAKey) {
    for (const int stuck : {1, 30}) {  // less than a batch, and more
        Outbox outbox(keyed());
        for (int n = 1; n <= stuck; ++n) outbox.write(n, "a");
        for (int n = 31; n <= 34; ++n) outbox.write(n);
        outbox.session.run(
            "update " + keyed().table + " set \"OrderId\" = null where \"OrderId\" <> 'a'"
        );
        const PostgresSession other(outbox.conninfo);
        other.run("begin");
        other.run("select from " + keyed().table + " where " + outbox.where(1) + " for update");
        const auto store = outbox.open(eager());
        EXPECT_EQ(numbers(claim(*store, 5)), (Numbers{31, 32, 33, 34})) << stuck;
    }
}

// Looks go on behind stuck keys, and must not take a row without a key twice.
TEST(TableOrder, ARowWithoutAKeyIsTakenOnceHoweverOftenAClaimLooks) {
    Outbox outbox(keyed());
    for (int n = 1; n <= 40; ++n) outbox.write(n, n <= 20 ? "a" : "b");
    for (int n = 41; n <= 42; ++n) outbox.write(n, "c");
    outbox.session.run(
        "update " + keyed().table + " set \"OrderId\" = null where " + outbox.where(2) + " or " +
        outbox.where(41)
    );
    const PostgresSession other(outbox.conninfo);
    other.run("begin");
    for (const int n : {1, 21}) {
        other.run("select from " + keyed().table + " where " + outbox.where(n) + " for update");
    }
    const auto store = outbox.open(eager());
    Numbers taken = numbers(claim(*store, 10));
    std::sort(taken.begin(), taken.end());
    EXPECT_EQ(taken, (Numbers{2, 41, 42}));
}

TEST(TableOrder, AKeyThatAnotherWorkerHoldsIsSkippedWhole) {
    Outbox outbox(keyed());
    outbox.write(1, "a");
    const auto first = outbox.open(eager());
    const auto second = outbox.open(eager());
    const Batch held = claim(*first);
    outbox.write(2, "a");
    EXPECT_TRUE(claim(*second).held_elsewhere);
    outbox.write(3, "b");
    EXPECT_EQ(numbers(claim(*second)), Numbers{3});
}

TEST(TableOrder, StuckKeysNeverFillABatch) {
    Outbox outbox(keyed());
    for (int n = 1; n <= 60; ++n) outbox.write(n, n <= 30 ? "a" : "b");
    outbox.write(61, "c");
    const PostgresSession other(outbox.conninfo);
    other.run("begin");
    other.run("select from " + keyed().table + " where " + outbox.where(1) + " for update");
    const auto first = outbox.open(eager());
    const Batch held = claim(*first, 5);
    EXPECT_EQ(numbers(held), (Numbers{31, 32, 33, 34, 35})) << "the head of a is locked";
    const auto second = outbox.open(eager());
    EXPECT_EQ(numbers(claim(*second, 5)), Numbers{61});
}

TEST(TableOrder, TopicsOfOneKeyStayInOrder) {
    Outbox outbox(keyed());
    outbox.write(1, "a", "orders.placed");
    outbox.write(2, "a", "orders.paid");
    const auto store = outbox.open(eager());
    const Batch batch = claim(*store);
    ASSERT_EQ(batch.envelopes.size(), 2U);
    EXPECT_TRUE(batch.keys_cross_topics);
    EXPECT_EQ(batch.envelopes[0].order_key, batch.envelopes[1].order_key);
}

// Keeps the order of a topic and key, as many brokers do, and nothing across topics.
class TopicBroker final : public Broker {
public:
    explicit TopicBroker(std::vector<std::string>& offered) : offered_(offered) {}

    [[nodiscard]] BrokerTraits traits() const override { return {.keeps_order = true}; }

    void publish(std::span<const Envelope> envelopes, Deadline, std::span<Answer> answers)
        override {
        for (std::size_t i = 0; i < envelopes.size(); ++i) {
            offered_.emplace_back(envelopes[i].topic);
            const bool placed = envelopes[i].topic == "orders.placed";
            answers[i] = {placed ? Verdict::refused : Verdict::acknowledged, "no", {}};
        }
    }

    [[nodiscard]] Result<void> ping(Deadline) override { return {}; }

private:
    std::vector<std::string>& offered_;
};

TEST(TableOrder, ABrokerThatKeepsTheOrderOfATopicIsNotTakenToKeepThatOfAKey) {
    Outbox outbox(keyed());
    outbox.write(1, "a", "orders.placed");
    outbox.write(2, "a", "orders.paid");
    outbox.write(3, "b", "orders.paid");
    const auto store = outbox.open(eager());
    std::vector<std::string> offered;
    TopicBroker broker(offered);
    SystemClock clock;
    SeededDice dice(1);
    Observer observer;
    const Destination destination = eager();
    const TurnReport report = make_turn(
        *store,
        broker,
        {.destination = destination,
         .limits = {100, 1U << 20U},
         .clock = clock,
         .dice = dice,
         .observer = observer,
         .stop = {}}
    );
    EXPECT_EQ(report.outcome, TurnReport::Outcome::moved);
    EXPECT_EQ(offered, (std::vector<std::string>{"orders.placed", "orders.paid"}));
    EXPECT_EQ(outbox.pending(), 2) << "2 waits behind 1";
}

TEST(TableOrder, ARefusedRowHoldsBackItsKeyUntilItIsDue) {
    Outbox outbox(keyed());
    outbox.write(1, "a");
    outbox.write(2, "a");
    outbox.write(3, "b");
    Destination patient = eager();
    patient.retry.delay_first = std::chrono::hours(1);
    patient.retry.delay_max = std::chrono::hours(1);
    const auto driver = outbox.driver();
    const auto store = std::move(driver->open(patient)).value();
    Batch batch = claim(*store, 1);
    ASSERT_EQ(numbers(batch), Numbers{1});
    Settlement refused;
    refused.fate = Fate::again;
    refused.attempts = 1;
    refused.reason = "not today";
    refused.due_at = batch.now + std::chrono::hours(1);
    ASSERT_TRUE(store->settle(std::move(batch), std::vector{refused}));
    EXPECT_EQ(outbox.value("\"RetryCount\"", 1), "1");
    EXPECT_EQ(outbox.value("\"Error\"", 1), "not today");
    const auto sibling = std::move(driver->open(patient)).value();
    Batch rest = claim(*sibling);
    EXPECT_EQ(numbers(rest), Numbers{3});
    ASSERT_TRUE(rest.next_due);
    EXPECT_GT(*rest.next_due - rest.now, std::chrono::minutes(50));
    Destination skips = patient;
    skips.name = "skips";
    skips.on_failure = OnFailure::skip;
    EXPECT_EQ(outbox.admin(skips)->backlog({})->destinations[0].parked, 1U);
}

// Until a condition holds that a review brings about: one a second, but after a slow one the next
// comes only when twenty times as long has passed.
template <class Condition>
bool soon(const Condition& condition) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > give_up) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return true;
}

const Schema& scheduled() {
    return schemas().at(5);  // open-outbox: a time at which a row is due
}

TEST(TableOrder, ARowThatIsRescheduledOrDeletedIsNoticed) {
    Outbox outbox(scheduled());
    for (int n = 1; n <= 2; ++n) outbox.write(n, "a");
    for (int n = 3; n <= 4; ++n) outbox.write(n, "b");
    outbox.session.run(
        "update openoutbox_events set available_at = now() + interval '1 day' where " +
        outbox.where(1) + " or " + outbox.where(3)
    );
    const auto store = outbox.open(eager());
    EXPECT_TRUE(numbers(claim(*store)).empty());
    outbox.session.run(
        "update openoutbox_events set available_at = now() where " + outbox.where(1)
    );
    EXPECT_TRUE(soon([&] { return numbers(claim(*store)) == Numbers{1, 2}; }));
    outbox.session.run("delete from openoutbox_events where " + outbox.where(3));
    EXPECT_TRUE(soon([&] { return numbers(claim(*store)) == Numbers{1, 2, 4}; }));
}

TEST(TableOrder, ARefusedRowThatIsRescheduledOrDeletedIsNoticed) {
    for (const bool deletes : {false, true}) {
        Outbox outbox(scheduled());
        for (int n = 1; n <= 2; ++n) outbox.write(n, "a");
        const auto store = outbox.open(eager());
        Batch batch = claim(*store);
        std::vector<Settlement> settlements(2);
        settlements[0].fate = Fate::again;
        settlements[0].attempts = 1;
        settlements[0].due_at = batch.now + std::chrono::hours(1);
        ASSERT_TRUE(store->settle(std::move(batch), settlements));
        EXPECT_TRUE(numbers(claim(*store)).empty());
        outbox.session.run(
            (deletes ? "delete from openoutbox_events where "
                     : "update openoutbox_events set available_at = now() where ") +
            outbox.where(1)
        );
        const Numbers wanted = deletes ? Numbers{2} : Numbers{1, 2};
        EXPECT_TRUE(soon([&] { return numbers(claim(*store)) == wanted; })) << deletes;
    }
}

// They are remembered, so that looks get behind them, however many there are.
TEST(TableOrder, ManyKeysThatAreNotDueHideNobody) {
    Outbox outbox(scheduled());
    for (int n = 1; n <= 400; ++n) outbox.write(n);
    outbox.session.run("update openoutbox_events set available_at = now() + interval '1 day'");
    outbox.write(401);
    const auto store = outbox.open(eager());
    EXPECT_TRUE(numbers(claim(*store, 10)).empty()) << "16 looks at 10 rows";
    EXPECT_TRUE(numbers(claim(*store, 10)).empty());
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    EXPECT_EQ(numbers(claim(*store, 10)), Numbers{401});
}

TEST(TableOrder, GlobalOrderHasOneWorkerAndStopsAtARowInOtherHands) {
    Outbox outbox(keyed());
    for (int n = 1; n <= 3; ++n) outbox.write(n);
    Destination global = eager();
    global.order = Order::global;
    const PostgresSession other(outbox.conninfo);
    other.run("begin");
    other.run("select from " + keyed().table + " where " + outbox.where(2) + " for update");
    const auto store = outbox.open(global);
    const Batch batch = claim(*store);
    EXPECT_EQ(numbers(batch), Numbers{1});
    const auto second = outbox.open(global);
    EXPECT_TRUE(claim(*second).held_elsewhere);
}

// What such a table cannot give, and the log can: whoever commits late is overtaken.
TEST(TableOrder, ALateCommitIsOvertaken) {
    Outbox outbox(keyed());
    const PostgresSession late(outbox.conninfo);
    late.run("begin");
    outbox.write_in(late, 1, "a");
    outbox.write(2, "a");
    const auto store = outbox.open(eager());
    Batch batch = claim(*store);
    EXPECT_EQ(numbers(batch), Numbers{2});
    finish(*store, std::move(batch));
    late.run("commit");
    EXPECT_EQ(numbers(claim(*store)), Numbers{1});
}

TEST(TableOrder, PartitionsAndIdsThatAreNotUniqueAreSettledRowByRow) {
    Schema schema = schemas().at(1);
    schema.definition =
        "create table outbox_events (id bigint not null, event_type text not null, aggregate_id "
        "text, payload text not null, status text not null default 'PENDING', created_at timestamp "
        "not null) partition by hash (aggregate_id); "
        "create table part_0 partition of outbox_events for values with (modulus 2, remainder 0); "
        "create table part_1 partition of outbox_events for values with (modulus 2, remainder 1)";
    Outbox outbox(schema);
    for (int i = 0; i < 20; ++i) outbox.write(1, "key-" + std::to_string(i));
    const auto store = outbox.open(eager());
    Batch batch = claim(*store);
    ASSERT_EQ(batch.envelopes.size(), 20U);
    std::vector<Settlement> settlements(20);
    for (std::size_t i = 0; i < 20; i += 2) settlements[i].fate = Fate::done;
    ASSERT_TRUE(store->settle(std::move(batch), settlements));
    EXPECT_EQ(outbox.pending(), 10);
}

// A rule or a trigger that swallows the settle must not look like success.
TEST(TableOrder, ASettleThatChangesNothingIsAnErrorAndUndone) {
    Outbox outbox(keyed());
    outbox.write(1);
    outbox.session.run(
        "create function nothing() returns trigger language plpgsql as $$ begin return null; end $$"
    );
    outbox.session.run(
        "create trigger deaf before update on " + keyed().table +
        " for each row execute function nothing()"
    );
    const auto store = outbox.open(eager());
    Batch batch = claim(*store);
    ASSERT_EQ(batch.envelopes.size(), 1U);
    Settlement done;
    done.fate = Fate::done;
    EXPECT_FALSE(store->settle(std::move(batch), std::vector{done}));
    EXPECT_EQ(outbox.pending(), 1);
    EXPECT_EQ(numbers(claim(*store)), Numbers{1}) << "and the connection goes on";
}

class TableRelay : public ::testing::TestWithParam<Schema> {};

INSTANTIATE_TEST_SUITE_P(Presets, TableRelay, ::testing::ValuesIn(schemas()), preset_of);

// Rows are written while eight workers take them, in the order of the table.
TEST_P(TableRelay, EightWorkersKeepTheOrderOfEveryKey) {
    constexpr int kRows = 2000;
    constexpr int kKeys = 16;
    Outbox outbox(GetParam());
    testing::MemoryBroker broker;
    Destination destination = eager(8);
    destination.batch.messages = 40;
    Relay relay(outbox.driver());
    relay.add(destination, broker.driver());
    relay.start();
    outbox.session.run("set synchronous_commit = off");
    for (int n = 1; n <= kRows; ++n) outbox.write(n, "key-" + std::to_string(n % kKeys));
    ASSERT_TRUE(broker.wait_for(kRows, std::chrono::seconds(60)));
    relay.stop();
    std::map<std::string, int> last;
    std::set<int> seen;
    for (const testing::Received& message : broker.received()) {
        const int n = number_in(message.payload);
        EXPECT_TRUE(seen.insert(n).second) << n << " came twice";
        if (!GetParam().has_key) continue;
        EXPECT_EQ(message.key, "key-" + std::to_string(n % kKeys));
        EXPECT_LT(last[message.key], n) << "out of order";
        last[message.key] = n;
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(kRows));
    EXPECT_EQ(outbox.pending(), 0);
}

// The first try fails: the row stays, is charged where there is a column, and comes again.
TEST_P(TableRelay, AFailingPublishLeavesTheRowForTheNextTry) {
    Outbox outbox(GetParam());
    outbox.write(1);
    std::atomic<int> tries = 0;
    testing::MemoryBroker broker;
    Relay relay(outbox.driver());
    relay.add(eager(), testing::faulty_broker(broker.driver(), [&](const Delivery&) {
                  return ++tries < 3 ? testing::Fault::refuse : testing::Fault::none;
              }));
    relay.start();
    ASSERT_TRUE(broker.wait_for(1, std::chrono::seconds(60)));
    relay.stop();
    EXPECT_EQ(tries, 3);
    EXPECT_EQ(outbox.pending(), 0);
    const std::string& attempts = GetParam().attempts;
    if (!attempts.empty()) {
        EXPECT_EQ(outbox.value(attempts, 1), "2");
    }
    const std::string& error = GetParam().error;
    if (!error.empty()) {
        EXPECT_NE(outbox.value(error, 1), "");
    }
}

TEST_P(TableRelay, AnOutageCostsNoTry) {
    Outbox outbox(GetParam());
    outbox.write(1);
    std::atomic<int> tries = 0;
    testing::MemoryBroker broker;
    Relay relay(outbox.driver());
    Destination destination = eager();
    destination.outage_delay_first = std::chrono::milliseconds(1);
    destination.outage_delay_max = std::chrono::milliseconds(1);
    relay.add(destination, testing::faulty_broker(broker.driver(), [&](const Delivery&) {
                  return ++tries < 4 ? testing::Fault::lose_message : testing::Fault::none;
              }));
    relay.start();
    ASSERT_TRUE(broker.wait_for(1, std::chrono::seconds(60)));
    relay.stop();
    EXPECT_EQ(outbox.pending(), 0);
    const std::string& attempts = GetParam().attempts;
    if (!attempts.empty()) {
        EXPECT_EQ(outbox.value(attempts, 1), "0");
    }
}

}  // namespace
}  // namespace outrider
