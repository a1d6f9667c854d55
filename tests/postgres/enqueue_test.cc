#include <thread>

#include <gtest/gtest.h>

#include "outrider/error.h"
#include "outrider/postgres.h"

#include "postgres/log.h"

namespace outrider {
namespace {

using Payloads = std::vector<std::string>;

TEST(PostgresEnqueue, IsRefusedOutsideATransaction) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    try {
        postgres::enqueue(session.get(), message("1"));
        FAIL() << "it was accepted";
    } catch (const Failure& failure) {
        EXPECT_EQ(failure.remedy(), Remedy::correct);
        EXPECT_NE(std::string(failure.what()).find("no transaction is open"), std::string::npos);
    }
    EXPECT_EQ(session.value("select count(*) from outrider.message"), "0");
}

TEST(PostgresEnqueue, WritesAllOfManyInOrderOrNone) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    std::vector<Message> messages;
    Payloads expected;
    for (int i = 0; i < 50; ++i) {
        expected.push_back(std::to_string(i));
        messages.push_back(message(expected.back()));
    }
    session.run("begin");
    EXPECT_EQ(postgres::enqueue(session.get(), messages).size(), 50U);
    session.run("commit");
    session.run("begin");
    messages[49].topic = "";
    EXPECT_THROW(postgres::enqueue(session.get(), messages), Failure);
    session.run("commit");
    EXPECT_EQ(take_all(*log.open(everything())), expected);
}

TEST(PostgresEnqueue, TakesAPlainInsertFromAnyLanguage) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    session.run("insert into outrider.message (topic, key, payload) values ('t', 'k', 'text')");
    session.run("insert into outrider.message (topic, key, payload) values ('t', 'k', '\\x00ff')");
    EXPECT_EQ(take_all(*log.open(everything())), (Payloads{"text", std::string("\0\xff", 2)}));
}

TEST(PostgresEnqueue, AHeaderWithoutAValueIsNone) {
    const PostgresLog log;
    PostgresSession(log.conninfo)
        .run(
            "insert into outrider.message (topic, payload, headers) values ('t', '', "
            "'{\"none\": null, \"number\": 1}')"
        );
    const auto store = log.open(everything());
    const Result<Batch> batch = store->claim({10, 1000});
    ASSERT_TRUE(batch) << batch.error().text;
    ASSERT_EQ(batch->envelopes.size(), 1U);
    ASSERT_EQ(batch->envelopes[0].headers.size(), 1U);
    EXPECT_EQ(batch->envelopes[0].headers[0].name, "number");
    EXPECT_EQ(batch->envelopes[0].headers[0].value, "1");
}

TEST(PostgresEnqueue, TellsAWriterWhatIsWrongWithItsRow) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    const auto insert = [](const char* columns, const char* values) {
        return std::string("insert into outrider.message (") + columns + ") values (" + values +
               ")";
    };
    EXPECT_NE(
        failure_text([&] { session.run(insert("topic, payload", "null, 'x'")); }).find("topic"),
        std::string::npos
    );
    EXPECT_NE(
        failure_text([&] { session.run(insert("topic, payload, headers", "'t', 'x', '[1]'")); }
        ).find("headers must be a JSON object"),
        std::string::npos
    );
    EXPECT_NE(
        failure_text([&] { session.run(insert("topic, payload", "'t', null")); }).find("payload"),
        std::string::npos
    );
}

TEST(PostgresMigrate, HappensOnceHoweverManyTry) {
    const std::string conninfo = PostgresServer::shared().create_database();
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&conninfo] {
            postgres::StoreOptions options;
            options.conninfo = conninfo;
            const auto driver = postgres::make_driver(options);
            const auto admin = driver->open_admin(StoreDriver::IfMissing::fail);
            ASSERT_TRUE(admin) << admin.error().text;
            const auto migrated = (*admin)->migrate();
            EXPECT_TRUE(migrated) << migrated.error().text;
        });
    }
    for (std::thread& thread : threads) thread.join();
    const PostgresSession session(conninfo);
    EXPECT_EQ(session.value("select count(*) = max(version) from outrider.schema_version"), "t");
}

}  // namespace
}  // namespace outrider
