#include <gtest/gtest.h>

#include "outrider/error.h"
#include "outrider/postgres.h"
#include "outrider/relay.h"
#include "outrider/testing.h"

#include "postgres/log.h"

// The name of the schema is the one value that is pasted into statements.

namespace outrider {
namespace {

using std::string_literals::operator""s;

// Upper case, keywords, the longest: quoted everywhere, the doorbell included. The relay looks
// unasked only once an hour, so what arrives was rung for.
TEST(PostgresSchemaName, ThatIsValidWorksFromEndToEnd) {
    PostgresLog log;
    const PostgresSession session(log.conninfo);
    for (const std::string& schema :
         {"select"s, "Outrider"s, "USER"s, "_"s, std::string(40, 'S')}) {
        log.options.schema = schema;
        const auto migrated = log.admin()->migrate();
        ASSERT_TRUE(migrated) << schema << ": " << migrated.error().text;
        testing::MemoryBroker broker;
        RelayOptions options;
        options.idle_poll = std::chrono::hours(1);
        Relay relay(log.driver(), options);
        relay.add(everything(), broker.driver());
        relay.start();
        postgres::PostgresEnqueueOptions there;
        there.schema = schema;
        const auto wait_for = [&](std::size_t count) {
            return broker.wait_for(count, std::chrono::seconds(60));
        };
        session.run("begin");
        postgres::enqueue(session.get(), message(""), there);
        session.run("commit");
        ASSERT_TRUE(wait_for(1)) << schema;
        session.run("insert into \"" + schema + "\".message (topic, payload) values ('t', 'x')");
        ASSERT_TRUE(wait_for(2)) << schema;
        session.run("select \"" + schema + "\".enqueue('t', 'x'::text)");
        ASSERT_TRUE(wait_for(3)) << schema;
        relay.stop();
        EXPECT_TRUE(log.admin()->clean_up(Duration::zero(), 100)) << schema;
    }
    EXPECT_EQ(session.value("select count(*) from outrider.message"), "0") << "each has its own";
}

TEST(PostgresSchemaName, ThatIsNotIsRefusedByEverybody) {
    PostgresLog log;
    const PostgresSession session(log.conninfo);
    session.run("begin");
    for (const std::string& schema :
         {""s,
          "a\"b"s,
          "pg_mine"s,
          "information_schema"s,
          "a'b"s,
          "a.b"s,
          "a b"s,
          "1a"s,
          "a;b"s,
          "a\\"s,
          "{schema}"s,
          "\xC3\xBC"s,
          "a\0b"s,
          std::string(41, 's')}) {
        log.options.schema = schema;
        EXPECT_NE(
            failure_text([&] { (void)log.driver(); }).find("letters, digits and underscores"),
            std::string::npos
        ) << schema;
        postgres::PostgresEnqueueOptions there;
        there.schema = schema;
        EXPECT_NE(
            failure_text([&] { postgres::enqueue(session.get(), message(""), there); }
            ).find("letters, digits and underscores"),
            std::string::npos
        ) << schema;
        EXPECT_EQ(PQtransactionStatus(session.get()), PQTRANS_INTRANS) << "nothing was sent";
    }
}

}  // namespace
}  // namespace outrider
