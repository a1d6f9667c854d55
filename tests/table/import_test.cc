#include <gtest/gtest.h>

#include "stores/table/importer.h"
#include "table/outbox.h"

// The way into the log, on a real server.

namespace outrider {
namespace {

using table::ImportReport;

class TableImport : public ::testing::Test {
protected:
    explicit TableImport(const Schema& schema = schemas().at(5)) : outbox(schema) {
        outbox.session.run("drop schema if exists outrider cascade");
    }
    ~TableImport() override { outbox.session.run("drop schema if exists outrider cascade"); }

    [[nodiscard]] Result<ImportReport> import() const {
        postgres::StoreOptions log;
        log.conninfo = outbox.conninfo;
        return table::import_table(
            {outbox.conninfo, *table::layout_of(outbox.options)}, log, rules, wishes
        );
    }

    // The numbers in the payloads of the log, in its order.
    [[nodiscard]] std::vector<int> logged() const {
        std::vector<int> all;
        for (const std::string& payload : outbox.session.column(
                 "select convert_from(payload, 'UTF8') from outrider.message order by seq"
             )) {
            all.push_back(number_in(payload));
        }
        return all;
    }

    Outbox outbox;
    Destination rules = eager();
    table::ImportWishes wishes;
};

TEST_F(TableImport, RowsThatAnUpdateMakesPendingAreForwarded) {
    rules.retry.attempts_max = 3;
    for (int n = 1; n <= 5; ++n) outbox.write(n);
    const auto set = [&](const std::string& what, int n) {
        outbox.session.run("update openoutbox_events set " + what + " where " + outbox.where(n));
    };
    set("status = 'DEAD'", 2);
    set("status = 'DELIVERING'", 3);
    set("attempts = 3", 4);
    set("status = 'DELIVERED'", 5);
    const Result<ImportReport> report = import();
    ASSERT_TRUE(report) << report.error().text;
    EXPECT_EQ(report->moved, 1U);
    EXPECT_EQ(report->dead, 2U);
    EXPECT_EQ(report->other, 1U) << "being delivered by somebody else";
    EXPECT_EQ(logged(), std::vector<int>{1});
    set("last_error = 'seen'", 4);
    set("delivered_at = now()", 5);
    EXPECT_EQ(logged(), std::vector<int>{1}) << "nothing became pending";
    EXPECT_EQ(*outbox.admin(rules)->replay_dead({}), 2U);
    set("status = 'PENDING'", 3);
    EXPECT_EQ(logged(), (std::vector<int>{1, 2, 4, 3}));
    EXPECT_EQ(outbox.pending(), 0) << "and settled in the table";
    outbox.write(6);
    set("last_error = 'seen'", 6);
    EXPECT_EQ(logged(), (std::vector<int>{1, 2, 4, 3, 6}));
}

TEST_F(TableImport, AKeyInSeveralTopicsIsNotSplitUnasked) {
    outbox.write(1, "a", "orders.placed");
    outbox.write(2, "b", "orders.placed");
    outbox.write(3, "a", "orders.paid");
    const Result<ImportReport> refused = import();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().remedy, Remedy::correct);
    EXPECT_NE(refused.error().text.find("key 'a'"), std::string::npos) << refused.error().text;
    EXPECT_EQ(outbox.pending(), 3);
    EXPECT_TRUE(logged().empty());
    wishes.order_per_topic = true;
    EXPECT_TRUE(import());
    EXPECT_EQ(logged(), (std::vector<int>{1, 2, 3}));
}

TEST_F(TableImport, ARowThatTheLogDoesNotTakeIsNamed) {
    for (int n = 1; n <= 3; ++n) outbox.write(n);
    outbox.session.run(
        "update openoutbox_events set event_type = repeat('x', 100000) where " + outbox.where(2)
    );
    const Result<ImportReport> refused = import();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().remedy, Remedy::correct);
    EXPECT_NE(refused.error().text.find(outbox.id(2)), std::string::npos) << refused.error().text;
    EXPECT_EQ(outbox.pending(), 3);
    EXPECT_TRUE(logged().empty());
    outbox.session.run("delete from openoutbox_events where " + outbox.where(2));
    EXPECT_TRUE(import());
    EXPECT_EQ(logged(), (std::vector<int>{1, 3}));
}

// Behind the trigger nobody reads the table: a row that stayed there would be lost without a word.
TEST_F(TableImport, AWriterHearsOfARowThatTheLogDoesNotTake) {
    ASSERT_TRUE(import());
    EXPECT_THROW(outbox.write(1, std::string(2000, 'k')), std::exception);
    EXPECT_THROW(outbox.write(2, "a", std::string(100'000, 't')), std::exception);
    outbox.write(3, "a");
    EXPECT_EQ(logged(), std::vector<int>{3});
    EXPECT_EQ(outbox.session.value("select count(*) from openoutbox_events"), "1");
}

TEST_F(TableImport, WhereNobodyKeepsTheOrderOfKeysNothingIsRefused) {
    outbox.write(1, "a", "orders.placed");
    outbox.write(2, "a", "orders.paid");
    rules.order = Order::none;
    EXPECT_TRUE(import());
}

}  // namespace
}  // namespace outrider
