#include <numeric>

#include <gtest/gtest.h>

#include "table/outbox.h"

// Rows that are delivered and whose mark the table refuses, on a real server.

namespace outrider {
namespace {

using Numbers = std::vector<int>;

// efcore; updates go through this body of a trigger.
Schema guarded(const std::string& body) {
    Schema schema = schemas().at(2);
    schema.definition +=
        "; create or replace function guard() returns trigger language plpgsql as "
        "$$ begin " +
        body +
        " return new; end $$; create trigger guard before update on "
        "\"OutboxMessages\" for each row execute function guard()";
    return schema;
}

// For the row with this number.
std::string if_row(int n, const std::string& then) {
    return "if new.\"Payload\" = '{\"n\": " + std::to_string(n) + "}' then " + then + "; end if;";
}

// The ways a table has to say no.
std::vector<Schema> refusing(int n) {
    Schema check = schemas().at(2);
    const std::string row = "\"Payload\" = '{\"n\": " + std::to_string(n) + "}'";
    check.definition +=
        "; alter table \"OutboxMessages\" add check (not (\"Processed\" and " + row + "))";
    Schema late = guarded("");
    late.definition +=
        "; create or replace function late() returns trigger language plpgsql as $$ begin " +
        if_row(n, "raise exception 'frozen'") +
        " return null; end $$; create constraint trigger late after update on \"OutboxMessages\" "
        "deferrable initially deferred for each row execute function late()";
    return {
        guarded(if_row(n, "raise exception 'frozen'")),
        guarded(if_row(n, "return null")),
        check,
        late};
}

Destination patient() {
    Destination destination = eager();
    destination.retry.delay_first = std::chrono::hours(1);
    destination.retry.delay_max = std::chrono::hours(1);
    return destination;
}

Result<void> deliver(Store& store, Batch batch) {
    Settlement done;
    done.fate = Fate::done;
    const std::vector<Settlement> settlements(batch.envelopes.size(), done);
    return store.settle(std::move(batch), settlements);
}

// Claims and delivers until nothing is left to claim; the turns that it takes, at most twenty.
int turns(Store& store) {
    for (int turn = 1; turn <= 20; ++turn) {
        Batch batch = claim(store);
        if (batch.envelopes.empty()) return turn;
        [[maybe_unused]] const Result<void> settled = deliver(store, std::move(batch));
    }
    return 21;
}

Numbers up_to(int last) {
    Numbers all(static_cast<std::size_t>(last));
    std::iota(all.begin(), all.end(), 1);
    return all;
}

TEST(TableMarks, ARowThatCannotBeMarkedStopsNobodyElse) {
    for (const int bad : {1, 7, 10}) {
        for (const Schema& schema : refusing(bad)) {
            Outbox outbox(schema);
            for (int n = 1; n <= 10; ++n) outbox.write(n);
            const auto store = outbox.open(patient());
            const Result<void> first = deliver(*store, claim(*store));
            ASSERT_FALSE(first);
            EXPECT_EQ(first.error().remedy, Remedy::correct)
                << "so that the relay takes one by one";
            EXPECT_EQ(outbox.pending(), 10) << "undone whole, once";
            Batch again = claim(*store);
            ASSERT_EQ(numbers(again), up_to(10));
            const Result<void> second = deliver(*store, std::move(again));
            ASSERT_FALSE(second);
            EXPECT_EQ(second.error().remedy, Remedy::correct);
            EXPECT_NE(second.error().text.find("took the mark of 9 of 10"), std::string::npos)
                << second.error().text;
            EXPECT_NE(second.error().text.find(outbox.id(bad)), std::string::npos)
                << second.error().text;
            EXPECT_EQ(outbox.pending(), 1) << "all but one are settled";
            EXPECT_TRUE(claim(*store).envelopes.empty()) << "and that one waits";
            outbox.write(11);
            finish(*store, claim(*store));
            EXPECT_EQ(outbox.pending(), 1) << "what is new goes on";
        }
    }
}

TEST(TableMarks, ATableThatTakesNoMarkAtAllIsLeftAlone) {
    Outbox outbox(guarded("raise exception 'read only';"));
    for (int n = 1; n <= 5; ++n) outbox.write(n);
    const auto store = outbox.open(patient());
    EXPECT_EQ(turns(*store), 3) << "undone, then each waits";
    EXPECT_EQ(outbox.pending(), 5);
}

TEST(TableMarks, ARowIsMarkedOnceTheTableLetsIt) {
    Outbox outbox(guarded(if_row(1, "raise exception 'frozen'")));
    outbox.write(1);
    const auto store = outbox.open(eager());
    for (int turn = 0; turn < 2; ++turn) EXPECT_FALSE(deliver(*store, claim(*store)));
    outbox.session.run("drop trigger guard on \"OutboxMessages\"");
    for (int look = 0; look < 1000 && outbox.pending() > 0; ++look) finish(*store, claim(*store));
    EXPECT_EQ(outbox.pending(), 0);
}

// A repeat of the row must not come after what followed it.
TEST(TableMarks, WhereFailuresBlockItsKeyWaitsWithIt) {
    Outbox outbox(guarded(if_row(2, "raise exception 'frozen'")));
    for (int n = 1; n <= 4; ++n) outbox.write(n, n == 4 ? "other" : "one");
    const auto store = outbox.open(patient());
    EXPECT_FALSE(deliver(*store, claim(*store)));
    EXPECT_FALSE(deliver(*store, claim(*store)));
    EXPECT_EQ(outbox.value("\"Processed\"", 1), "t");
    EXPECT_EQ(outbox.value("\"Processed\"", 3), "f") << "it will be repeated behind 2";
    EXPECT_EQ(outbox.value("\"Processed\"", 4), "t");
    EXPECT_TRUE(claim(*store).envelopes.empty()) << "3 waits behind 2";
}

TEST(TableMarks, WhereFailuresAreSkippedItsKeyGoesOn) {
    Outbox outbox(guarded(if_row(2, "raise exception 'frozen'")));
    for (int n = 1; n <= 3; ++n) outbox.write(n, "one");
    Destination destination = patient();
    destination.on_failure = OnFailure::skip;
    const auto store = outbox.open(destination);
    EXPECT_FALSE(deliver(*store, claim(*store)));
    EXPECT_FALSE(deliver(*store, claim(*store)));
    EXPECT_EQ(outbox.pending(), 1);
}

// A refused row of the same batch is written all the same.
TEST(TableMarks, WhatWasRefusedIsWrittenBesideIt) {
    Outbox outbox(guarded(if_row(1, "raise exception 'frozen'")));
    for (int n = 1; n <= 2; ++n) outbox.write(n);
    const auto store = outbox.open(patient());
    EXPECT_FALSE(deliver(*store, claim(*store)));
    Batch batch = claim(*store);
    std::vector<Settlement> settlements(2);
    settlements[0].fate = Fate::done;
    settlements[1].fate = Fate::again;
    settlements[1].attempts = 1;
    settlements[1].due_at = batch.now + std::chrono::hours(1);
    settlements[1].reason = "no";
    EXPECT_FALSE(store->settle(std::move(batch), settlements));
    EXPECT_EQ(outbox.value("\"RetryCount\"", 2), "1");
    EXPECT_TRUE(claim(*store).envelopes.empty());
}

}  // namespace
}  // namespace outrider
