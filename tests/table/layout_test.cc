#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "stores/table/driver.h"
#include "stores/table/presets.h"
#include "table/outbox.h"

// What a configuration means, and what is wrong with it. No server.

namespace outrider::table {
namespace {

std::string problem(const TableOptions& options) {
    const Result<Layout> layout = layout_of(options);
    return layout ? "" : layout.error().text;
}

TableOptions plain() {
    return {.name = "outbox", .id = "id", .topic = "topic", .payload = "payload", .done = "delete"};
}

TEST(TableLayout, EveryPresetMakesSenseByItself) {
    for (const std::string& name : preset_names()) {
        TableOptions options;
        options.preset = name;
        EXPECT_EQ(problem(options), "") << name;
    }
    EXPECT_EQ(preset_names().size(), schemas().size());
}

// What docs/existing-tables.md has in brackets behind the preset's name.
std::set<std::string> documented_columns(const std::string& preset) {
    std::ifstream page(OUTRIDER_TABLES_PAGE);
    std::string row;
    while (std::getline(page, row) && !row.starts_with("| `" + preset + "` |")) {
    }
    const std::size_t start = std::min(row.find('('), row.size());
    std::string list = row.substr(start, row.find(')') - start);
    for (char& c : list) {
        if (c == '(' || c == ',' || c == '"') c = ' ';
    }
    std::istringstream words(list);
    return {std::istream_iterator<std::string>(words), {}};
}

TEST(TableLayout, EveryColumnOfAPresetIsDocumented) {
    for (const std::string& name : preset_names()) {
        const std::set<std::string> columns = documented_columns(name);
        const Result<Layout> layout = layout_of({.preset = name});
        for (const std::string& column :
             {layout->id,
              layout->topic,
              layout->key,
              layout->type,
              layout->payload,
              layout->content_type,
              layout->headers,
              layout->created,
              layout->due,
              layout->done_at,
              layout->status,
              layout->flag,
              layout->attempts,
              layout->error}) {
            EXPECT_TRUE(column.empty() || columns.contains(column)) << name << ": " << column;
        }
    }
}

TEST(TableLayout, OverridesAPresetByName) {
    TableOptions options;
    options.preset = "outbox-messages";
    options.name = "Shop.Messages";
    options.attempts = "-";
    options.key = "Customer";
    const Result<Layout> layout = layout_of(options);
    ASSERT_TRUE(layout);
    EXPECT_EQ(layout->schema, "Shop");
    EXPECT_EQ(layout->table, "Messages");
    EXPECT_EQ(layout->attempts, "");
    EXPECT_EQ(layout->key, "Customer");
    EXPECT_EQ(layout->created, "occurred_on");
    EXPECT_FALSE(layout->can_bury());
}

TEST(TableLayout, NamesMayBeQuoted) {
    TableOptions options = plain();
    options.name = R"("My.Shop"."Out""box")";
    const Result<Layout> layout = layout_of(options);
    ASSERT_TRUE(layout);
    EXPECT_EQ(layout->schema, "My.Shop");
    EXPECT_EQ(layout->table, "Out\"box");
    EXPECT_EQ(quote_name(layout->table), R"("Out""box")");
}

TEST(TableLayout, SaysEverythingThatIsWrong) {
    TableOptions options;
    options.done = "perhaps";
    options.settle = "later";
    const std::string text = problem(options);
    for (const char* key : {"name", "id", "topic", "payload", "done", "settle"}) {
        EXPECT_NE(text.find("store.table." + std::string(key)), std::string::npos) << key;
    }
    options = plain();
    options.preset = "outbox-mesages";
    EXPECT_NE(problem(options).find("outbox-messages"), std::string::npos);
}

TEST(TableLayout, RefusesNamesThatPostgresWouldCutOrCannotHave) {
    for (const std::string& name :
         {std::string(64, 'x'),
          std::string("a\nb"),
          std::string("\xff"),
          std::string("a.b.c"),
          std::string("\"open"),
          std::string(".x")}) {
        TableOptions options = plain();
        options.name = name;
        EXPECT_NE(problem(options), "") << name;
    }
    TableOptions options = plain();
    options.key = std::string("a\0b", 3);
    EXPECT_NE(problem(options), "");
}

TEST(TableLayout, MarksNeedTheirColumns) {
    TableOptions options = plain();
    options.done = "timestamp";
    EXPECT_NE(problem(options).find("done_at"), std::string::npos);
    options.done = "flag";
    EXPECT_NE(problem(options).find("flag"), std::string::npos);
    options.done = "status";
    options.status = "status";
    options.status_pending = "NEW";
    EXPECT_NE(problem(options).find("status_done"), std::string::npos);
    options.status_done = "SENT";
    EXPECT_EQ(problem(options), "");
}

TEST(TableLayout, WhatCanDieByItsStatusNeedsOneToLiveAgain) {
    TableOptions options = plain();
    options.done = "timestamp";
    options.done_at = "done_at";
    options.status = "status";
    options.status_dead = "DEAD";
    EXPECT_NE(problem(options).find("status_pending: needed with status_dead"), std::string::npos);
    options.status_pending = "NEW";
    EXPECT_EQ(problem(options), "");
}

TEST(TableLayout, WhatAUserWroteIsNeverReadAsAPlaceholderOrAsSql) {
    TableOptions options = plain();
    options.name = "{key}";
    options.topic = "a\"; drop table x; --";
    options.done = "status";
    options.status = "s";
    options.status_pending = "it's {table}\\";
    options.status_done = "done";
    const Result<Layout> layout = layout_of(options);
    ASSERT_TRUE(layout);
    Facts facts;
    facts.schema = "public";
    facts.table = layout->table;
    const Wording wording(*layout, facts);
    EXPECT_EQ(wording.fill("{table}"), R"("public"."{key}")");
    EXPECT_EQ(wording.fill("{topic}"), R"(t."a""; drop table x; --"::text)");
    EXPECT_EQ(wording.fill("{pending}"), R"(t."s" = E'it''s {table}\\')");
}

TEST(TableLayout, PatternsOverlapOrNot) {
    EXPECT_TRUE(overlap("*", "orders.placed"));
    EXPECT_TRUE(overlap("orders.*", "*.placed"));
    EXPECT_TRUE(overlap("a*b*c", "ab*bc"));
    EXPECT_TRUE(overlap("orders", "orders"));
    EXPECT_FALSE(overlap("orders.*", "payments.*"));
    EXPECT_FALSE(overlap("*.placed", "*.paid"));
    EXPECT_FALSE(overlap("orders", "orders.x"));
}

TEST(TableHeld, ForgetsWhoWakesFirstWhenThereAreTooMany) {
    Held held;
    const MonoTime start{};
    for (std::size_t i = 0; i <= Held::kEntriesMax; ++i) {
        held.hold(std::to_string(i), {"k", start + std::chrono::seconds(i + 1), 1, {}});
    }
    EXPECT_FALSE(held.find("0"));
    EXPECT_TRUE(held.find("1"));
    const Held::Waiting waiting = held.waiting(start + std::chrono::seconds(9000));
    EXPECT_EQ(waiting.keys, std::vector<std::string>{"k"});
    EXPECT_EQ(waiting.ids.size(), 1001U);
    EXPECT_EQ(waiting.next, start + std::chrono::seconds(9001));
}

}  // namespace
}  // namespace outrider::table
