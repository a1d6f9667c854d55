#include "stores/postgres/log_id.h"

#include <gtest/gtest.h>

#include "postgres/log.h"
#include "stores/postgres/claim.h"

// Ids of messages that were written without one.

namespace outrider {
namespace {

constexpr std::int64_t kUnixEpoch = -946'684'800'000'000;  // in microseconds since 2000

// The relay makes the id when it reads a message, the server when it puts it elsewhere.
TEST(PostgresLogId, IsTheSameWhoeverMakesIt) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    const std::int64_t origin = std::stoll(session.value("select origin from outrider.setting"));
    const std::vector<std::string> moments = {
        "2026-11-17 04:05:06.123456+00",
        "2026-11-17 04:05:06+00",
        "1970-01-01 00:00:00+00",
        "1969-12-31 23:59:59.999999+00",
        "1999-12-31 23:59:59.999001+00",
        "0001-01-01 00:00:00+00",
        "4713-01-01 00:00:00+00 BC",
        "9999-12-31 23:59:59.999999+00",
        "294276-12-31 23:59:59+00",
        "-infinity",
        "infinity",
    };
    for (const std::string& moment : moments) {
        for (const std::int64_t seq : {std::int64_t{1}, std::int64_t{1} << 40U, INT64_MAX}) {
            const std::string at = "timestamptz '" + moment + "'";
            const auto connection = postgres::Connection::open(log.conninfo).value();
            const auto raw = connection.run("select " + at).value();
            const WallTime occurred_at = postgres::from_server_time(raw.integer(0, 0));
            const std::string number = std::to_string(seq);
            EXPECT_EQ(
                postgres::id_in_log(origin, seq, occurred_at).to_string(),
                session.value("select outrider.id_of(null, " + number + ", " + at + ")")
            ) << moment;
        }
    }
}

TEST(PostgresLogId, IsOfVersionSevenAndTellsLogsMomentsAndNumbersApart) {
    const WallTime then = postgres::from_server_time(kUnixEpoch + 1'700'000'000'123'456);
    const std::string id = postgres::id_in_log(0, 5, then).to_string();
    EXPECT_EQ(id, "018bcfe5-687b-7720-8000-000000000005");
    EXPECT_NE(postgres::id_in_log(1, 5, then).to_string(), id);
    EXPECT_NE(postgres::id_in_log(0, 6, then).to_string(), id);
    EXPECT_NE(postgres::id_in_log(0, 5, then + Duration(1)).to_string(), id);
}

// However often it is delivered, and wherever it has been meanwhile.
TEST(PostgresLogId, StaysTheSameWhenAMessageIsParkedDiesAndIsReplayed) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    insert(session, "k", "x");
    const std::string id =
        session.value("select outrider.id_of(id, seq, occurred_at) from outrider.message");
    EXPECT_EQ(session.value("select id is null from outrider.message"), "t");
    const auto store = log.open(everything());
    for (const Fate fate : {Fate::left, Fate::again, Fate::again, Fate::dead}) {
        Result<Batch> batch = store->claim({10, 1000});
        ASSERT_TRUE(batch) << batch.error().text;
        ASSERT_EQ(batch->envelopes.size(), 1U);
        EXPECT_EQ(batch->envelopes[0].id.to_string(), id);
        Settlement settlement;
        settlement.fate = fate;
        settlement.park_key = batch->envelopes[0].order_key;
        settlement.due_at = batch->now;
        ASSERT_TRUE(store->settle(std::move(batch).value(), std::vector{settlement}));
    }
    EXPECT_EQ(session.value("select id from outrider.dead"), id);
}

}  // namespace
}  // namespace outrider
