#include <algorithm>

#include <gtest/gtest.h>

#include "stores/table/statements.h"
#include "table/outbox.h"

// Who gets which row, on a real server, for every schema.

namespace outrider {
namespace {

using Numbers = std::vector<int>;

class TableClaim : public ::testing::TestWithParam<Schema> {
protected:
    TableClaim() : outbox(GetParam()) {}

    Outbox outbox;
};

INSTANTIATE_TEST_SUITE_P(Presets, TableClaim, ::testing::ValuesIn(schemas()), preset_of);

TEST_P(TableClaim, OneOfTwoGetsTheRowAndTheOtherNothingAtOnce) {
    outbox.write(1);
    for (const Order order : {Order::key, Order::none, Order::global}) {
        Destination destination = eager();
        destination.order = order;
        const auto first = outbox.open(destination);
        const auto second = outbox.open(destination);
        const Batch got = claim(*first);
        EXPECT_EQ(numbers(got), Numbers{1});
        EXPECT_TRUE(claim(*second).envelopes.empty());  // a wait would be for ever
    }
    EXPECT_EQ(outbox.pending(), 1) << "a claim that is dropped is given back";
}

TEST_P(TableClaim, CarriesWhatTheRowSays) {
    outbox.write(7, "customer-7", "orders.paid");
    const auto store = outbox.open(eager());
    const Batch batch = claim(*store);
    ASSERT_EQ(batch.envelopes.size(), 1U);
    const Envelope& envelope = batch.envelopes[0];
    EXPECT_EQ(envelope.topic, "orders.paid");
    EXPECT_EQ(envelope.type, "orders.paid");
    EXPECT_EQ(envelope.key, GetParam().has_key ? "customer-7" : "");
    EXPECT_EQ(envelope.payload, "{\"n\": 7}");
    EXPECT_EQ(envelope.flaw, "");
    EXPECT_FALSE(envelope.id.is_nil());
    if (GetParam().id != "{n}") {
        EXPECT_EQ(envelope.id.to_string(), outbox.id(7));
    }
    if (GetParam().preset != "debezium") {
        EXPECT_EQ(
            envelope.occurred_at,
            std::chrono::sys_days(std::chrono::year(2026) / 1 / 1) + std::chrono::milliseconds(7)
        );
    }
    if (GetParam().preset == "open-outbox") {
        ASSERT_EQ(envelope.headers.size(), 1U);
        EXPECT_EQ(envelope.headers[0].value, "t1");
    }
}

// Of a team that marked its rows and now wants them deleted, nothing is delivered twice.
TEST_P(TableClaim, LeavesMarkedRowsAloneWhereItDeletes) {
    outbox.write(1);
    {
        const auto marking = outbox.open(eager());
        finish(*marking, claim(*marking));
    }
    const std::string marked = outbox.session.value("select count(*) from " + GetParam().table);
    outbox.options.done = "delete";
    outbox.write(2);
    const auto deleting = outbox.open(eager());
    Batch got = claim(*deleting);
    EXPECT_EQ(numbers(got), Numbers{2});
    finish(*deleting, std::move(got));
    EXPECT_EQ(outbox.session.value("select count(*) from " + GetParam().table), marked);
}

TEST_P(TableClaim, SkipsALockedRowAndProcessesTheNextTwo) {
    for (int n = 1; n <= 3; ++n) outbox.write(n);
    for (const Order order : {Order::none, Order::key}) {
        Destination destination = eager();
        destination.order = order;
        const auto store = outbox.open(destination);
        const PostgresSession other(outbox.conninfo);
        other.run("begin");
        other.run("select from " + GetParam().table + " where " + outbox.where(1) + " for update");
        Batch got = claim(*store);
        EXPECT_EQ(numbers(got), (Numbers{2, 3}));
        if (order == Order::key) finish(*store, std::move(got));
        other.run("rollback");
    }
    EXPECT_EQ(outbox.pending(), 1);
    const auto store = outbox.open(eager());
    EXPECT_EQ(numbers(claim(*store)), Numbers{1});
}

TEST_P(TableClaim, TakesTheOldestFirstAndKeepsToItsLimits) {
    for (const int n : {3, 1, 5, 2, 4}) outbox.write(n);
    for (const Order order : {Order::key, Order::none, Order::global}) {
        Destination destination = eager();
        destination.order = order;
        const auto store = outbox.open(destination);
        const Batch few = claim(*store, 2);
        EXPECT_EQ(numbers(few), (Numbers{1, 2}));
        EXPECT_TRUE(few.full);
    }
    const auto store = outbox.open(eager());
    const Result<Batch> small = store->claim({100, 10});
    ASSERT_TRUE(small);
    EXPECT_LT(small->envelopes.size(), 5U);
    EXPECT_GE(small->envelopes.size(), 1U);
    EXPECT_TRUE(small->full);
}

// What is stored compressed is larger when it goes out.
TEST_P(TableClaim, CountsTheBytesThatGoOutAndNotThoseThatAreStored) {
    const std::string column = GetParam().preset == "efcore"   ? "\"Payload\""
                               : GetParam().preset == "onward" ? "\"Contents\""
                                                               : "payload";
    for (int n = 1; n <= 6; ++n) {
        outbox.write(n);
        const std::string payload =
            "('{\"n\": " + std::to_string(n) + ", \"x\": \"' || repeat('y', 400000) || '\"}')";
        const bool bytes = GetParam().preset == "open-outbox";
        const bool json = GetParam().preset == "debezium" || GetParam().preset == "outbox-messages";
        outbox.session.run(
            "update " + GetParam().table + " set " + column + " = " +
            (bytes ? "convert_to(" + payload + ", 'UTF8')" : payload + (json ? "::jsonb" : "")) +
            " where " + outbox.where(n)
        );
    }
    for (const Order order : {Order::key, Order::none, Order::global}) {
        Destination destination = eager();
        destination.order = order;
        const auto store = outbox.open(destination);
        const Batch batch = claim(*store);  // a mebibyte
        EXPECT_EQ(numbers(batch), (Numbers{1, 2, 3}));
        EXPECT_TRUE(batch.full);
        EXPECT_GT(batch.envelopes.at(2).payload.size(), 400000U);
    }
}

// The claim that everybody writes first: the same statement, but every session commits it by
// itself, so the lock is gone before anybody publishes.
TEST_P(TableClaim, OutsideATransactionTheSameStatementHandsARowOutTwice) {
    outbox.write(1);
    const Result<table::Layout> layout = table::layout_of(outbox.options);
    auto connection = postgres::Connection::open(outbox.conninfo, postgres::Connection::Path::user);
    auto other = postgres::Connection::open(outbox.conninfo, postgres::Connection::Path::user);
    ASSERT_TRUE(layout && connection && other);
    const Result<table::Facts> facts = table::find_facts(*connection, *layout);
    ASSERT_TRUE(facts);
    const table::Statements statements(table::Wording(*layout, *facts), eager(), false);
    const auto rows = [&](const postgres::Connection& session) {
        const auto found = session.run(
            statements.free,
            postgres::Parameters()
                .add(std::int64_t{10})
                .add(std::int64_t{1000})
                .add(std::string_view("{}"))
                .add_null()
        );
        return found ? found->count() : -1;
    };
    EXPECT_EQ(rows(*connection), 1);
    EXPECT_EQ(rows(*other), 1) << "delivered twice";
    ASSERT_TRUE(connection->run_script("begin"));
    ASSERT_TRUE(other->run_script("begin"));
    EXPECT_EQ(rows(*connection), 1);
    EXPECT_EQ(rows(*other), 0) << "in a transaction the lock lives until the row is settled";
}

TEST_P(TableClaim, SettlesByItsOwnMarkAndLeavesTheRestOfTheTableAlone) {
    for (int n = 1; n <= 3; ++n) outbox.write(n);
    outbox.options.settle = "row";
    const auto store = outbox.open(eager());
    Batch batch = claim(*store);
    std::vector<Settlement> settlements(3);
    settlements[0].fate = settlements[2].fate = Fate::done;
    ASSERT_TRUE(store->settle(std::move(batch), settlements));
    EXPECT_EQ(outbox.pending(), 1);
    EXPECT_EQ(numbers(claim(*store)), Numbers{2});
}

TEST_P(TableClaim, TakesOnlyItsTopics) {
    outbox.write(1, "", "orders.placed");
    outbox.write(2, "", "payments_made");
    outbox.write(3, "", "paymentsXmade");
    Destination destination = eager();
    destination.topics = {"payments_*"};
    const auto store = outbox.open(destination);
    EXPECT_EQ(numbers(claim(*store)), Numbers{2});
    const Backlog backlog = *outbox.admin(destination)->backlog({});
    ASSERT_EQ(backlog.destinations.size(), 1U);
    EXPECT_EQ(backlog.destinations[0].pending, 1U);
    EXPECT_TRUE(backlog.destinations[0].relay_running);
    ASSERT_EQ(backlog.unrouted.size(), 2U);
    EXPECT_EQ(backlog.unrouted[0].topic, "orders.placed");
}

TEST_P(TableClaim, RefusesDestinationsThatWouldShareARow) {
    const auto driver = outbox.driver();
    Destination orders = eager();
    orders.topics = {"orders.*"};
    ASSERT_TRUE(driver->open(orders));
    Destination all = eager();
    all.name = "other";
    const auto refused = driver->open(all);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().remedy, Remedy::correct);
    all.topics = {"payments.*"};
    EXPECT_TRUE(driver->open(all));
    all.start = Start::now;
    EXPECT_FALSE(driver->open(all));
}

TEST_P(TableClaim, SaysWhatTheTableLacks) {
    outbox.options.headers = "no_such_column";
    outbox.options.attempts = GetParam().preset == "onward" ? "TypeId" : "missing";
    const auto opened = outbox.driver()->open(eager());
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().remedy, Remedy::correct);
    EXPECT_NE(opened.error().text.find("no_such_column"), std::string::npos);
    EXPECT_NE(opened.error().text.find("store.table.attempts"), std::string::npos)
        << opened.error().text;
    outbox.options.name = "nowhere";
    EXPECT_NE(
        outbox.driver()->open(eager()).error().text.find("there is no table"), std::string::npos
    );
}

TEST(TableFacts, WhoMayDeleteButNotLockIsRefusedAtStart) {
    Outbox outbox(schemas().at(4));
    outbox.session.run(
        "do $$ begin create role weak login; exception when others then null; end $$; "
        "grant select, delete on outboxevent to weak"
    );
    outbox.write(1);
    const table::TablePlace weak{outbox.conninfo + " user=weak", *table::layout_of(outbox.options)};
    table::TableDriver driver(weak, {});
    const auto refused = driver.open(eager());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().remedy, Remedy::correct);
    EXPECT_NE(refused.error().text.find("may not lock"), std::string::npos) << refused.error().text;
    outbox.session.run("grant update (id) on outboxevent to weak");
    const auto opened = driver.open(eager());
    ASSERT_TRUE(opened) << opened.error().text;
    finish(**opened, claim(**opened));
    EXPECT_EQ(outbox.pending(), 0);
}

// Whoever changes the table holds all of it, perhaps for long, and a relay must be able to stop.
TEST(TableLock, ATableInOtherHandsIsNotWaitedForLong) {
    Outbox outbox(schemas().at(1));
    for (int n = 1; n <= 2; ++n) outbox.write(n);
    const auto store = outbox.open(eager());
    Batch batch = claim(*store, 1);
    Settlement again;
    again.fate = Fate::again;
    again.attempts = 1;
    again.due_at = batch.now + std::chrono::hours(1);
    ASSERT_TRUE(store->settle(std::move(batch), std::vector{again}));
    outbox.session.run("begin; lock table outbox_events in access exclusive mode");
    SystemClock clock;
    const MonoTime start = clock.now();
    for (const char* what : {"the claim", "the review of the row that waits, then"}) {
        const Result<Batch> refused = store->claim({10, 1U << 20U});
        ASSERT_FALSE(refused) << what;
        EXPECT_EQ(refused.error().remedy, Remedy::wait) << what << ": " << refused.error().text;
    }
    EXPECT_LT(clock.now() - start, std::chrono::seconds(20)) << "publish_deadline is 30 s";
    outbox.session.run("rollback");
    finish(*store, claim(*store));
    EXPECT_EQ(outbox.pending(), 1);
}

TEST(TableLock, ATurnMayTakeLongerThanTheServerCanCount) {
    Outbox outbox(schemas().at(1));
    outbox.write(1);
    Destination patient = eager();
    patient.publish_deadline = std::chrono::hours(24 * 30);
    const auto store = outbox.open(patient);
    finish(*store, claim(*store));
    EXPECT_EQ(outbox.pending(), 0);
}

// PostgreSQL knows no LIKE under a collation that takes two spellings for one.
TEST(TableTopics, AreMatchedLetterByLetterWhateverTheirCollation) {
    Outbox outbox(schemas().at(5));
    outbox.session.run(
        "drop collation if exists any_case; create collation any_case (provider = icu, locale = "
        "'und-u-ks-level2', deterministic = false); alter table openoutbox_events alter event_type "
        "type text collate any_case"
    );
    outbox.write(1, "a", "orders.placed");
    outbox.write(2, "b", "Orders.Placed");
    Destination destination = eager();
    destination.topics = {"orders.*"};
    const auto store = outbox.open(destination);
    finish(*store, claim(*store));
    EXPECT_EQ(outbox.value("status", 1), "DELIVERED");
    EXPECT_EQ(outbox.value("status", 2), "PENDING");
    const auto admin = outbox.admin(destination);
    const Result<Backlog> backlog = admin->backlog({});
    ASSERT_TRUE(backlog) << backlog.error().text;
    EXPECT_EQ(backlog->destinations.at(0).pending, 0U);
    DeadFilter filter;
    filter.topic = "orders.*";
    EXPECT_TRUE(admin->dead_letters(filter));
    EXPECT_TRUE(admin->replay_dead(filter));
    EXPECT_TRUE(admin->discard_dead(filter));
    outbox.session.run("drop table openoutbox_events; drop collation any_case");
    EXPECT_EQ(postgres::remedy_of("0A000"), Remedy::correct) << "time alone mends nothing";
}

TEST(TableFacts, AnIdThatMayBeNullIsRefusedAtStart) {
    Outbox outbox(schemas().at(0));
    outbox.session.run("alter table outbox_messages drop constraint outbox_messages_pkey");
    EXPECT_TRUE(outbox.driver()->open(eager()));
    outbox.session.run("alter table outbox_messages alter id drop not null");
    const auto opened = outbox.driver()->open(eager());
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().remedy, Remedy::correct);
    EXPECT_NE(opened.error().text.find("set not null"), std::string::npos) << opened.error().text;
}

}  // namespace
}  // namespace outrider
