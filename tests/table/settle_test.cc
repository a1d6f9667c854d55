#include <thread>

#include <gtest/gtest.h>

#include "table/outbox.h"

// What is written for rows, and what happens where it cannot be, on a real server.

namespace outrider {
namespace {

using Numbers = std::vector<int>;

// efcore: attempts and an error; this type for the error.
Schema with_error(const std::string& type) {
    Schema schema = schemas().at(2);
    const std::string was = "\"Error\" text";
    schema.definition.replace(schema.definition.find(was), was.size(), "\"Error\" " + type);
    return schema;
}

// outbox-events: a status; this type for it.
Schema with_status(const std::string& before, const std::string& type, const std::string& check) {
    Schema schema = schemas().at(1);
    schema.definition =
        before +
        "create table outbox_events (id bigint primary key, event_type text not null, "
        "aggregate_id text, payload text not null, status " +
        type + " not null default 'PENDING', created_at timestamp not null" + check + ")";
    return schema;
}

// The first row is delivered, the second refused.
Result<void> settle_one_of_two(Store& store, Fate fate, const std::string& reason) {
    Batch batch = claim(store);
    if (batch.envelopes.size() != 2) throw std::runtime_error("expected two rows");
    std::vector<Settlement> settlements(2);
    settlements[0].fate = Fate::done;
    settlements[1].fate = fate;
    settlements[1].attempts = 1;
    settlements[1].due_at = batch.now + std::chrono::milliseconds(1);
    settlements[1].reason = reason;
    return store.settle(std::move(batch), settlements);
}

std::string problem(const Outbox& outbox) {
    const auto opened = outbox.driver()->open(eager());
    if (opened) return "";
    EXPECT_EQ(opened.error().remedy, Remedy::correct);
    return opened.error().text;
}

TEST(TableSettle, AnErrorIsCutToWhatItsColumnHolds) {
    const std::string domain =
        "drop domain if exists short_text cascade; create domain short_text as varchar(5)";
    for (const char* type : {"varchar(5)", "char(5)", "short_text"}) {
        Schema schema = with_error(type);
        schema.definition = domain + "; " + schema.definition;
        Outbox outbox(schema);
        for (int n = 1; n <= 2; ++n) outbox.write(n);
        const auto store = outbox.open(eager());
        const Result<void> settled = settle_one_of_two(*store, Fate::again, "€ 1000 are missing");
        EXPECT_TRUE(settled) << type << ": " << settled.error().text;
        EXPECT_EQ(outbox.value("\"Error\"", 2), "€ 100") << type;
        EXPECT_EQ(outbox.pending(), 1) << type;
    }
}

TEST(TableSettle, AnErrorIsWrittenInTheEncodingOfTheDatabase) {
    PostgresServer& server = PostgresServer::shared();
    const PostgresSession session(server.create_database());
    session.run("create database latin template template0 encoding 'LATIN1' locale 'C'");
    Outbox outbox(with_error("text"), server.conninfo("latin"));
    for (int n = 1; n <= 2; ++n) outbox.write(n);
    const auto store = outbox.open(eager());
    const Result<void> settled = settle_one_of_two(*store, Fate::again, "5 €");
    EXPECT_TRUE(settled) << settled.error().text;
    EXPECT_EQ(outbox.value("\"Error\"", 2), "5 ???");
}

TEST(TableSettle, WhatWasDeliveredIsSettledWhereWhatWasRefusedCannotBeWritten) {
    for (const Fate fate : {Fate::again, Fate::dead}) {
        Outbox outbox(with_error("text check (length(\"Error\") < 5)"));
        for (int n = 1; n <= 2; ++n) outbox.write(n);
        Destination destination = eager();
        destination.retry.attempts_max = 3;
        const auto store = outbox.open(destination);
        const Result<void> settled = settle_one_of_two(*store, fate, "a long story");
        ASSERT_FALSE(settled);
        EXPECT_EQ(settled.error().remedy, Remedy::correct);
        EXPECT_NE(settled.error().text.find("refused"), std::string::npos);
        EXPECT_EQ(outbox.pending(), 1) << "1 is settled";
        EXPECT_EQ(outbox.value("\"RetryCount\"", 2), "0");
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        const Batch again = claim(*store);
        ASSERT_EQ(numbers(again), Numbers{2}) << "and the connection goes on";
        EXPECT_EQ(again.envelopes[0].attempts, 1U) << "remembered, if not written";
    }
}

TEST(TableSettle, WhatOnlyTheDeliveredRowsBreakIsUndoneWhole) {
    Outbox outbox(with_error("text, check (not \"Processed\" or \"RetryCount\" > 5)"));
    for (int n = 1; n <= 2; ++n) outbox.write(n);
    const auto store = outbox.open(eager());
    EXPECT_FALSE(settle_one_of_two(*store, Fate::again, "no"));
    EXPECT_EQ(outbox.pending(), 2);
    EXPECT_EQ(outbox.value("\"RetryCount\"", 2), "0");
    EXPECT_EQ(numbers(claim(*store)), (Numbers{1, 2}));
}

TEST(TableSettle, AnErrorColumnThatIsNoTextIsRefusedAtStart) {
    const Outbox outbox(with_error("jsonb"));
    const std::string text = problem(outbox);
    EXPECT_NE(text.find("store.table.error"), std::string::npos) << text;
    EXPECT_NE(text.find("jsonb"), std::string::npos) << text;
}

TEST(TableSettle, AStatusThatItsColumnCannotHoldIsRefusedAtStart) {
    const std::string types =
        "drop type if exists stage cascade; create type stage as enum ('PENDING', 'SENT'); "
        "drop domain if exists phase cascade; create domain phase as text check (value in "
        "('PENDING', 'SENT')); ";
    const std::vector<std::pair<std::string, std::string>> columns = {
        {"stage", ""},
        {"phase", ""},
        {"varchar(8)", ""},
        {"text", ", constraint known check (status in ('PENDING', 'SENT'))"}};
    for (const auto& [type, check] : columns) {
        Outbox outbox(with_status(types, type, check));
        const std::string text = problem(outbox);
        EXPECT_NE(text.find("'PUBLISHED' (store.table.status_done)"), std::string::npos)
            << type << ": " << text;
        EXPECT_EQ(text.find("status_pending"), std::string::npos) << text;
        outbox.options.status_done = "SENT";
        EXPECT_EQ(problem(outbox), "");
        outbox.write(1);
        const auto store = outbox.open(eager());
        finish(*store, claim(*store));
        EXPECT_EQ(outbox.pending(), 0);
    }
}

}  // namespace
}  // namespace outrider
