// Texts are UTF-8, whatever encodings the connection and the database have.

#include <gtest/gtest.h>

#include "outrider/error.h"
#include "outrider/postgres_enqueue.h"
#include "outrider/postgres_inbox.h"
#include "outrider/postgres_unit.h"

#include "postgres/log.h"

namespace outrider {
namespace {

using Enqueue = std::function<void(PGconn*, const Message&)>;

void in_a_pipeline(PGconn* connection, const Message& message) {
    PQenterPipelineMode(connection);
    std::optional<Failure> refused;
    try {
        const postgres::PipelinedEnqueue sent = postgres::send_enqueue(connection, message);
        PQpipelineSync(connection);
        postgres::receive_enqueue(connection, sent);
        PQclear(PQgetResult(connection));
    } catch (const Failure& failure) {
        refused = failure;
    }
    PQexitPipelineMode(connection);
    if (refused) throw Failure(*refused);
}

// Every way to write a message inside an open transaction.
std::vector<Enqueue> all_ways() {
    return {
        [](PGconn* connection, const Message& message) { enqueue(connection, message); },
        [](PGconn* connection, const Message& message) {
            enqueue(connection, std::vector{message, message});
        },
        [](PGconn* connection, const Message& message) {
            postgres::copy(connection, std::vector{message});
        },
        in_a_pipeline};
}

std::string refusal(const std::function<void()>& call) {
    try {
        call();
    } catch (const Failure& failure) {
        EXPECT_EQ(failure.remedy(), Remedy::correct);
        return failure.what();
    }
    return "";
}

constexpr const char* kAdvice = "set client_encoding to UTF8 on this connection";

// A message for each text that it can have.
std::vector<Message> with_letters() {
    std::vector<Message> messages(6, message("\xff"));
    messages[0].topic = "caf\u00e9";
    messages[1].key = "caf\u00e9";
    messages[2].type = "caf\u00e9";
    messages[3].content_type = "caf\u00e9";
    messages[4].headers = {{"caf\u00e9", "a"}};
    messages[5].headers = {{"a", "caf\u00e9"}};
    return messages;
}

TEST(PostgresEncoding, LettersAreRefusedOnAConnectionThatWouldChangeThem) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    session.run("set client_encoding to 'LATIN1'");
    for (const Enqueue& way : all_ways()) {
        session.run("begin");
        for (const Message& message : with_letters()) {
            const std::string said = refusal([&] { way(session.get(), message); });
            EXPECT_NE(said.find(kAdvice), std::string::npos) << said;
        }
        way(session.get(), message("\xff"));  // a payload is bytes
        session.run("commit");
    }
    EXPECT_EQ(session.value("select count(*) from outrider.message where topic = 't'"), "5");
    EXPECT_EQ(session.value("select count(*) from outrider.message"), "5");
}

TEST(PostgresEncoding, AUnitAndAnInboxRefuseThemToo) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    session.run("set client_encoding to 'LATIN1'");
    const std::string unit = refusal([&] {
        transactional(session.get(), [](auto& tx) { tx.enqueue(with_letters().front()); });
    });
    EXPECT_NE(unit.find(kAdvice), std::string::npos) << unit;
    session.run("begin");
    const std::string inbox = refusal([&] {
        const Arrival arrival(MessageId::generate(), "t", "caf\u00e9", 1);
        postgres::Inbox().once(session.get(), "billing", arrival, [] {});
    });
    EXPECT_NE(inbox.find(kAdvice), std::string::npos) << inbox;
}

TEST(PostgresEncoding, ADatabaseOfAnotherEncodingKeepsThemOnceTheConnectionTakesUtf8) {
    PostgresServer& server = PostgresServer::shared();
    PostgresSession(server.conninfo("postgres"))
        .run("create database letters encoding 'LATIN1' template template0 locale 'C'");
    PostgresLog log(1);
    log.options.conninfo = server.conninfo("letters");
    ASSERT_TRUE(log.admin()->migrate());
    const PostgresSession session(log.options.conninfo + " client_encoding=LATIN1");
    const Message zoe = with_letters()[1];
    session.run("begin");
    EXPECT_NE(refusal([&] { enqueue(session.get(), zoe); }), "");
    session.run("rollback");
    session.run("set client_encoding to 'UTF8'");
    session.run("begin");
    for (const Enqueue& way : all_ways()) way(session.get(), zoe);
    session.run("commit");
    const auto store = log.open(everything());
    const Result<Batch> batch = store->claim({10, 1000});
    ASSERT_TRUE(batch) << batch.error().text;
    ASSERT_EQ(batch->envelopes.size(), 5U);
    for (const Envelope& envelope : batch->envelopes) EXPECT_EQ(envelope.key, "caf\u00e9");
}

TEST(PostgresEncoding, WhatIsNotConvertedIsTakenWhereTheDatabaseMeansTheSame) {
    EXPECT_TRUE(postgres::takes_utf8("UTF8", "LATIN1"));
    EXPECT_TRUE(postgres::takes_utf8("SQL_ASCII", "SQL_ASCII"));
    EXPECT_TRUE(postgres::takes_utf8("SQL_ASCII", "UTF8"));
    EXPECT_FALSE(postgres::takes_utf8("SQL_ASCII", "LATIN1"));
    EXPECT_FALSE(postgres::takes_utf8("LATIN1", "UTF8"));
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    session.run("set client_encoding to 'SQL_ASCII'");
    session.run("begin");
    enqueue(session.get(), with_letters()[1]);
    session.run("commit");
    EXPECT_EQ(
        session.value("select encode(convert_to(key, 'UTF8'), 'hex') from outrider.message"),
        "636166c3a9"
    );
}

}  // namespace
}  // namespace outrider
