#include <gtest/gtest.h>

#include "table/outbox.h"

// Times without a time zone, in a database that has one, on a real server.

namespace outrider {
namespace {

const std::string& berlin() {
    static const std::string conninfo = [] {
        PostgresServer& server = PostgresServer::shared();
        const std::string made = server.create_database();
        const PostgresSession session(made);
        const std::string name = session.value("select current_database()");
        session.run("alter database \"" + name + "\" set timezone = 'Europe/Berlin'");
        return made;
    }();
    return conninfo;
}

// open-outbox: three times.
Schema without_zone() {
    Schema schema = schemas().at(5);
    const std::string zoned = "timestamptz";
    for (std::size_t at = schema.definition.find(zoned); at != std::string::npos;
         at = schema.definition.find(zoned, at)) {
        schema.definition.replace(at, zoned.size(), "timestamp");
    }
    return schema;
}

TEST(TableTime, IsThatOfTheDatabaseWhereTheColumnHasNoZone) {
    Outbox outbox(without_zone(), berlin());
    outbox.write(1);
    const auto store = outbox.open(eager());
    Batch batch = claim(*store);
    ASSERT_EQ(numbers(batch), std::vector<int>{1}) << "due by default now()";
    EXPECT_EQ(
        batch.envelopes[0].occurred_at,
        std::chrono::sys_days(std::chrono::year(2026) / 1 / 1) - std::chrono::hours(1) +
            std::chrono::milliseconds(1)
    );
    Settlement again;
    again.fate = Fate::again;
    again.attempts = 1;
    again.due_at = batch.now + std::chrono::seconds(2);
    ASSERT_TRUE(store->settle(std::move(batch), std::vector{again}));
    const std::string near =
        "between now()::timestamp - interval '10 min' and now()::timestamp + "
        "interval '10 min'";
    EXPECT_EQ(outbox.value("available_at " + near, 1), "t");
    outbox.write(2);
    finish(*store, claim(*store));
    EXPECT_EQ(outbox.value("delivered_at " + near, 2), "t");
}

TEST(TableTime, AnOperatorIsToldWhichZoneIsMeant) {
    const Outbox outbox(without_zone(), berlin());
    const Result<SchemaVersion> version = outbox.admin(eager())->migrate();
    ASSERT_TRUE(version);
    bool told = false;
    for (const std::string& remark : version->remarks) {
        told = told || remark.find("Europe/Berlin") != std::string::npos;
    }
    EXPECT_TRUE(told);
}

// PostgreSQL has times that lie before and behind all others, and no distance to them.
TEST(TableTime, MayBeInfinite) {
    for (const char* when : {"'infinity'", "'-infinity'"}) {
        Outbox outbox(schemas().at(5));
        for (int n = 1; n <= 2; ++n) outbox.write(n);
        outbox.session.run(
            "update openoutbox_events set created_at = " + std::string(when) + " where " +
            outbox.where(1)
        );
        const Result<Backlog> backlog = outbox.admin(eager())->backlog({});
        ASSERT_TRUE(backlog) << backlog.error().text;
        EXPECT_EQ(backlog->destinations.at(0).pending, 2U);
        const std::optional<Duration> age = backlog->destinations.at(0).oldest_pending_age;
        ASSERT_TRUE(age) << "of the row that has one";
        EXPECT_LT(*age, std::chrono::hours(24 * 365 * 100));
        const auto store = outbox.open(eager());
        finish(*store, claim(*store));
        EXPECT_EQ(outbox.pending(), 0);
    }
}

}  // namespace
}  // namespace outrider
