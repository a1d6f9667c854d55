#include <atomic>
#include <fstream>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "outrider/relay.h"
#include "outrider/testing.h"

#include "stores/table/advice.h"
#include "table/outbox.h"

// Dead letters, dispatch by id, clean-up, and what the server's log shows.

namespace outrider {
namespace {

using table::Dispatched;

class TableOperate : public ::testing::TestWithParam<Schema> {};

INSTANTIATE_TEST_SUITE_P(Presets, TableOperate, ::testing::ValuesIn(schemas()), preset_of);

void bury(const Outbox& outbox, Store& store, Destination& destination) {
    Batch batch = claim(store, 1);
    ASSERT_EQ(batch.envelopes.size(), 1U);
    Settlement dead;
    dead.fate = Fate::dead;
    dead.attempts = destination.retry.attempts_max == 0 ? 1 : destination.retry.attempts_max;
    dead.reason = "never";
    ASSERT_TRUE(store.settle(std::move(batch), std::vector{dead})) << outbox.schema.preset;
}

TEST_P(TableOperate, DeadRowsAreLeftCountedListedAndReplayed) {
    Outbox outbox(GetParam());
    for (int n = 1; n <= 2; ++n) outbox.write(n, "a");
    Destination destination = eager();
    destination.retry.delay_max = std::chrono::hours(1);
    const auto driver = outbox.driver({destination});
    const auto store = std::move(driver->open(destination)).value();
    bury(outbox, *store, destination);
    const auto admin = std::move(driver->open_admin(StoreDriver::IfMissing::fail)).value();
    const DestinationStatus status = admin->backlog({})->destinations.at(0);
    if (!GetParam().can_bury) {
        EXPECT_EQ(status.dead, 0U) << "nothing dies where nobody can see it";
        EXPECT_EQ(status.pending, 2U);
        return;
    }
    EXPECT_EQ(status.dead, 1U);
    EXPECT_EQ(status.pending, 1U);
    EXPECT_EQ(numbers(claim(*store)), std::vector<int>{2}) << "its key goes on";
    DeadFilter filter;
    const std::vector<DeadLetter> letters = *admin->dead_letters(filter);
    ASSERT_EQ(letters.size(), 1U);
    EXPECT_EQ(letters[0].id.to_string(), outbox.id(1));
    if (!GetParam().error.empty()) {
        EXPECT_EQ(letters[0].error, "never");
    }
    EXPECT_FALSE(letters[0].died_at) << "no table says when";
    EXPECT_TRUE(letters[0].occurred_at);
    const std::vector<DeadLetter> shown = *admin->dead_letter(letters[0].id);
    ASSERT_EQ(shown.size(), 1U);
    EXPECT_EQ(number_in(shown[0].payload), 1);
    filter.id = MessageId::parse(outbox.id(2));
    EXPECT_EQ(*admin->replay_dead(filter), 0U) << "only what is dead is replayed";
    filter.id = letters[0].id;
    EXPECT_EQ(*admin->replay_dead(filter), 1U);
    EXPECT_EQ(numbers(claim(*store)), (std::vector<int>{1, 2}));
}

// Delivered by a time, dead by a status.
TEST(TableDead, AReplayedRowIsPendingAgainWhateverSaysThatItIsDone) {
    Outbox outbox(schemas().at(1));
    outbox.session.run(
        "alter table outbox_events drop constraint outbox_events_status_check, "
        "add done_at timestamptz"
    );
    outbox.options.done = "timestamp";
    outbox.options.done_at = "done_at";
    outbox.options.status_dead = "DEAD";
    outbox.write(1);
    Destination destination = eager();
    const auto store = outbox.open(destination);
    bury(outbox, *store, destination);
    EXPECT_EQ(outbox.value("status", 1), "DEAD");
    EXPECT_EQ(*outbox.admin(destination)->replay_dead({}), 1U);
    EXPECT_EQ(outbox.value("status", 1), "PENDING");
    EXPECT_EQ(numbers(claim(*store)), std::vector<int>{1});
}

TEST_P(TableOperate, ADeadRowCanHoldItsKey) {
    if (!GetParam().can_bury || !GetParam().has_key) return;
    Outbox outbox(GetParam());
    for (int n = 1; n <= 2; ++n) outbox.write(n, "a");
    outbox.write(3, "b");
    Destination destination = eager();
    destination.after_death = AfterDeath::hold;
    const auto driver = outbox.driver({destination});
    const auto store = std::move(driver->open(destination)).value();
    bury(outbox, *store, destination);
    EXPECT_EQ(numbers(claim(*store)), std::vector<int>{3});
    const auto admin = std::move(driver->open_admin(StoreDriver::IfMissing::fail)).value();
    EXPECT_EQ(*admin->discard_dead({}), 1U);
    const auto fresh = std::move(outbox.driver()->open(destination)).value();
    EXPECT_EQ(numbers(claim(*fresh)), (std::vector<int>{2, 3}));
}

TEST_P(TableOperate, CleansUpDeliveredRowsOnlyAndInPieces) {
    Outbox outbox(GetParam());
    for (int n = 1; n <= 10; ++n) outbox.write(n);
    const auto store = outbox.open(eager());
    finish(*store, claim(*store, 7));
    const auto kept = [&] {
        return outbox.session.value("select count(*) from " + GetParam().table);
    };
    if (GetParam().preset == "debezium") {
        EXPECT_EQ(kept(), "3");
        return;
    }
    EXPECT_EQ(*outbox.admin(eager())->clean_up(Duration::zero(), 100), 0U) << "unless asked for";
    outbox.options.retention = std::chrono::hours(1);
    // Where nobody wrote when a row was delivered, its own time counts, and those are old.
    const bool by_done = GetParam().preset != "outbox-events";
    if (by_done) {
        EXPECT_EQ(*outbox.admin(eager())->clean_up(Duration::zero(), 100), 0U);
    }
    outbox.options.retention = std::chrono::microseconds(1);
    EXPECT_EQ(*outbox.admin(eager())->clean_up(Duration::zero(), 5), 5U);
    EXPECT_EQ(*outbox.admin(eager())->clean_up(Duration::zero(), 5), 2U);
    EXPECT_EQ(kept(), "3");
    EXPECT_EQ(*outbox.admin(eager())->clean_up(Duration::zero(), 5), 0U);
    EXPECT_EQ(kept(), "3");
    EXPECT_EQ(outbox.pending(), 3);
}

TEST_P(TableOperate, DispatchesARowByItsIdUnlessSomebodyElseHasIt) {
    Outbox outbox(GetParam());
    testing::MemoryBroker broker;
    table::Dispatcher dispatcher(outbox.conninfo, outbox.options, eager(), broker.driver());
    EXPECT_EQ(dispatcher.dispatch(outbox.id(1)), Dispatched::gone);
    outbox.write(1, "a");
    outbox.write(2, "a");
    if (GetParam().has_key) {
        EXPECT_EQ(dispatcher.dispatch(outbox.id(2)), Dispatched::elsewhere) << "1 goes before it";
    }
    EXPECT_EQ(dispatcher.dispatch(outbox.id(1)), Dispatched::delivered) << dispatcher.error();
    EXPECT_EQ(dispatcher.dispatch(outbox.id(1)), Dispatched::gone);
    const auto relay = outbox.open(eager());
    const Batch held = claim(*relay);
    EXPECT_EQ(numbers(held), std::vector<int>{2});
    outbox.write(3, "a");
    EXPECT_EQ(dispatcher.dispatch(outbox.id(2)), Dispatched::elsewhere);
    if (GetParam().has_key) {
        EXPECT_EQ(dispatcher.dispatch(outbox.id(3)), Dispatched::elsewhere) << "its key is held";
    }
    const Dispatched odd = dispatcher.dispatch("no such id at all");
    EXPECT_TRUE(odd == Dispatched::gone || odd == Dispatched::invalid) << dispatcher.error();
    EXPECT_EQ(broker.received().size(), 1U);
}

TEST(TableDispatch, SaysThatNoRowCanHaveSuchAnId) {
    Outbox outbox(schemas().at(1));
    outbox.write(1, "a");
    testing::MemoryBroker broker;
    table::Dispatcher dispatcher(outbox.conninfo, outbox.options, eager(), broker.driver());
    for (const char* id : {"nonsense", "", "99999999999999999999", "1.5"}) {
        EXPECT_EQ(dispatcher.dispatch(id), Dispatched::invalid) << id;
        EXPECT_NE(dispatcher.error(), "");
    }
    EXPECT_EQ(dispatcher.dispatch(outbox.id(1)), Dispatched::delivered) << dispatcher.error();
}

TEST(TableDispatch, OfSeveralRowsWithOneIdTheOldestGoesFirst) {
    Schema schema = schemas().at(1);
    const std::string unique = "id bigserial primary key";
    schema.definition.replace(schema.definition.find(unique), unique.size(), "id bigint not null");
    for (const Order order : {Order::key, Order::none, Order::global}) {
        Outbox outbox(schema);
        for (const char* key : {"a", "a", "b", "c"}) outbox.write(1, key);
        Destination destination = eager();
        destination.order = order;
        testing::MemoryBroker broker;
        table::Dispatcher dispatcher(outbox.conninfo, outbox.options, destination, broker.driver());
        for (int left = 3; left >= 0; --left) {
            EXPECT_EQ(dispatcher.dispatch("1"), Dispatched::delivered) << dispatcher.error();
            EXPECT_EQ(outbox.pending(), left);
        }
        EXPECT_EQ(dispatcher.dispatch("1"), Dispatched::gone);
    }
}

TEST_P(TableOperate, DispatchAndRelayTogetherDeliverEverythingOnceAndInOrder) {
    constexpr int kRows = 300;
    Outbox outbox(GetParam());
    outbox.session.run("set synchronous_commit = off");
    testing::MemoryBroker broker;
    Relay relay(outbox.driver());
    relay.add(eager(2), broker.driver());
    relay.start();
    table::Dispatcher dispatcher(outbox.conninfo, outbox.options, eager(), broker.driver());
    for (int n = 1; n <= kRows; ++n) {
        outbox.write(n, "key-" + std::to_string(n % 3));
        const Dispatched outcome = dispatcher.dispatch(outbox.id(n));
        EXPECT_NE(outcome, Dispatched::unknown) << dispatcher.error();
    }
    ASSERT_TRUE(broker.wait_for(kRows, std::chrono::seconds(60)));
    relay.stop();
    std::map<std::string, int> last;
    std::set<int> seen;
    for (const testing::Received& message : broker.received()) {
        const int n = number_in(message.payload);
        EXPECT_TRUE(seen.insert(n).second) << n << " came twice";
        if (!GetParam().has_key) continue;
        EXPECT_LT(last[message.key], n);
        last[message.key] = n;
    }
    EXPECT_EQ(outbox.pending(), 0);
}

TEST_P(TableOperate, AdvisesTheIndexThatTheClaimUsesAndSaysWhatTheTableCannotGive) {
    Outbox outbox(GetParam());
    outbox.session.run("set synchronous_commit = off");
    auto connection = postgres::Connection::open(outbox.conninfo, postgres::Connection::Path::user);
    const auto layout = table::layout_of(outbox.options);
    ASSERT_TRUE(connection && layout);
    const auto facts = table::find_facts(*connection, *layout);
    ASSERT_TRUE(facts);
    const table::Wording wording(*layout, *facts);
    const auto before = table::advise(*connection, wording);
    ASSERT_TRUE(before);
    // A table in the order of its ids has the index of its primary key.
    const bool lacks = GetParam().preset != "debezium";
    EXPECT_EQ(!before->front().statement.empty(), lacks);
    if (lacks) outbox.session.run(before->front().statement);
    const auto after = table::advise(*connection, wording);
    ASSERT_TRUE(after);
    bool overtaken = false;
    for (const table::Advice& advice : *after) {
        EXPECT_EQ(advice.statement, "") << advice.text;
        overtaken = overtaken || advice.text.find("overtaken") != std::string::npos;
    }
    EXPECT_TRUE(overtaken);
    if (!lacks) return;
    outbox.session.run(
        "set enable_seqscan = off; set enable_bitmapscan = off; set enable_sort = off"
    );
    const std::string plan = outbox.session.value(
        "explain (format json) " +
        wording.fill("select from {table} t where {alive} order by {order} limit 10", eager())
    );
    const std::string index = outbox.session.value(
        "select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid "
        "= '" +
        GetParam().table + "'::regclass order by c.oid desc limit 1"
    );
    EXPECT_NE(plan.find(index), std::string::npos) << plan;
    EXPECT_EQ(plan.find("\"Sort\""), std::string::npos) << plan;
}

TEST(TableAdvice, RowsWithAStatusThatMeansNothingAreFound) {
    Outbox outbox(schemas().at(5));
    for (int n = 1; n <= 4; ++n) outbox.write(n);
    const auto odd = [&] {
        const Result<std::vector<Finding>> findings = outbox.admin(eager())->examine();
        std::string text;
        for (const Finding& finding : *findings) {
            if (finding.what.find("neither") != std::string::npos) text += finding.what;
        }
        return text;
    };
    outbox.session.run("update openoutbox_events set status = 'DEAD' where " + outbox.where(1));
    outbox.session.run(
        "update openoutbox_events set status = 'DELIVERED' where " + outbox.where(2)
    );
    EXPECT_EQ(odd(), "");
    outbox.session.run(
        "update openoutbox_events set status = 'DELIVERING' where " + outbox.where(3)
    );
    EXPECT_EQ(odd().find("1 rows are neither"), 0U) << odd();
    EXPECT_NE(odd().find("DELIVERING"), std::string::npos) << odd();
}

TEST(TableAdvice, TheIndexOfAPartitionedTableCanBeMade) {
    Schema schema = schemas().at(1);
    schema.definition =
        "create table outbox_events (id bigint not null, event_type text, aggregate_id text, "
        "payload text, status text default 'PENDING', created_at timestamp) partition by range "
        "(id); create table part_0 partition of outbox_events default";
    const Outbox outbox(schema);
    const auto admin = outbox.admin(eager());
    outbox.session.run(admin->schema_text());
    const Result<SchemaVersion> version = admin->migrate();
    ASSERT_TRUE(version);
    for (const std::string& remark : version->remarks) {
        EXPECT_EQ(remark.find("create index"), std::string::npos) << remark;
    }
}

TEST(TableAdvice, AnIdThatNeedNotBeUniqueIsFoundAndSaidAtStart) {
    const std::string columns =
        "create table outbox_events (tenant int, id bigint not null, event_type text, aggregate_id "
        "text, payload text, status text default 'PENDING', created_at timestamp";
    const std::string by_tenant = "; create table part_0 partition of outbox_events default";
    const std::vector<std::pair<std::string, Gravity>> tables = {
        {", primary key (tenant, id))", Gravity::warning},
        {"); create unique index on outbox_events (id) where tenant = 1", Gravity::warning},
        {") partition by list (tenant)" + by_tenant, Gravity::hint}};
    for (const auto& [rest, gravity] : tables) {
        Schema schema = schemas().at(1);
        schema.definition = columns + rest;
        const Outbox outbox(schema);
        const auto admin = outbox.admin(eager());
        ASSERT_EQ(admin->schema_version()->remarks.size(), 1U) << rest;
        const std::vector<Finding> findings = *admin->examine();
        const auto found = std::find_if(findings.begin(), findings.end(), [](const Finding& one) {
            return one.what.find("no unique index is on") == 0;
        });
        ASSERT_NE(found, findings.end()) << rest;
        EXPECT_EQ(found->gravity, gravity) << rest;
        if (gravity == Gravity::hint) continue;
        outbox.session.run("create unique index on outbox_events (id)");
        EXPECT_TRUE(admin->schema_version()->remarks.empty()) << rest;
    }
}

// The order of a turn's statements, as the server saw them.
TEST_P(TableOperate, TheServerSeesBeginBeforeTheClaimAndCommitAfterTheSettle) {
    static PostgresServer server("log_statement = all\nlog_line_prefix = '<%p> '\n");
    Outbox outbox(GetParam(), server);
    outbox.write(1);
    const auto store = outbox.open(eager());
    finish(*store, claim(*store));
    std::ifstream file(server.log_file());
    const std::string log(std::istreambuf_iterator<char>(file), {});
    const std::size_t start = log.rfind("execute begin");
    ASSERT_NE(start, std::string::npos);
    const std::size_t locks = log.find("for update skip locked", start);
    const std::size_t settle = log.find("execute settle_done", start);
    const std::size_t commit = log.find("execute commit", start);
    ASSERT_NE(locks, std::string::npos);
    ASSERT_NE(settle, std::string::npos);
    ASSERT_NE(commit, std::string::npos);
    EXPECT_LT(start, locks);
    EXPECT_LT(locks, settle);
    EXPECT_LT(settle, commit);
    const auto pid_at = [&](std::size_t place) {
        const std::size_t open = log.rfind("<", place);
        return log.substr(open, log.find(">", open) - open);
    };
    EXPECT_EQ(pid_at(start), pid_at(settle));
    EXPECT_EQ(pid_at(start), pid_at(commit));
}

}  // namespace
}  // namespace outrider
