// The other ways to enqueue: statement, pipeline, COPY.

#include <gtest/gtest.h>

#include "outrider/error.h"
#include "outrider/postgres_enqueue.h"
#include "outrider/postgres_unit.h"

#include "postgres/log.h"

namespace outrider {
namespace {

using Payloads = std::vector<std::string>;

// Everything a message can have, hostile where that is allowed.
Message full() {
    Message full = message(std::string("\0\xff\\x \"{},NULL\n", 14));
    full.topic = "a\"b,{c}\\";
    full.key = "NULL";
    full.type = "t'; drop table x; --";
    full.content_type = "application/json";
    full.headers = {{"a", "\"quoted\""}, {"ü", "\\"}};
    full.id = MessageId::parse("0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f");
    full.occurred_at = WallTime(std::chrono::microseconds(1'700'000'000'123'456));
    full.deliver_after = WallTime(std::chrono::microseconds(-1));
    return full;
}

// One row as text, all columns that a writer can set.
std::string row_text(const PostgresSession& session) {
    return session.value(
        "select row(id, topic, key, type, payload, content_type, headers, "
        "extract(epoch from occurred_at), extract(epoch from deliver_after))::text "
        "from outrider.message order by seq desc limit 1"
    );
}

class PostgresForms : public ::testing::Test {
protected:
    PostgresLog log;
    PostgresSession session{log.conninfo};

    void run_statement(const postgres::EnqueueStatement& statement) const {
        const auto values = statement.values();
        PGresult* result = PQexecParams(
            session.get(),
            statement.text.c_str(),
            static_cast<int>(values.size()),
            nullptr,
            values.data(),
            nullptr,
            nullptr,
            0
        );
        EXPECT_EQ(PQresultStatus(result), PGRES_COMMAND_OK) << PQresultErrorMessage(result);
        PQclear(result);
    }

    // Sends a statement of our own into the pipeline.
    void send(const char* sql) const {
        ASSERT_EQ(
            PQsendQueryParams(session.get(), sql, 0, nullptr, nullptr, nullptr, nullptr, 0), 1
        );
    }

    // Reads one result of our own, with the null behind it.
    [[nodiscard]] ExecStatusType receive() const {
        PGresult* result = PQgetResult(session.get());
        const ExecStatusType status = PQresultStatus(result);
        PQclear(result);
        if (status == PGRES_PIPELINE_SYNC) return status;
        EXPECT_EQ(PQgetResult(session.get()), nullptr);
        return status;
    }

    [[nodiscard]] std::string count() const {
        return session.value("select count(*) from outrider.message");
    }
};

TEST_F(PostgresForms, AllWriteTheSameRow) {
    session.run("begin");
    postgres::enqueue(session.get(), full());
    const std::string expected = row_text(session);
    EXPECT_NE(expected.find("0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f"), std::string::npos);
    EXPECT_NE(expected.find("1700000000.123456"), std::string::npos) << expected;

    const std::vector<Message> two = {message("1"), full()};
    postgres::enqueue(session.get(), two);
    EXPECT_EQ(row_text(session), expected);
    run_statement(postgres::enqueue_statement(full()));
    EXPECT_EQ(row_text(session), expected);
    run_statement(postgres::enqueue_statement(two));
    EXPECT_EQ(row_text(session), expected);
    EXPECT_EQ(postgres::copy(session.get(), two).back(), *full().id);
    EXPECT_EQ(row_text(session), expected);
    session.run("commit");
}

TEST_F(PostgresForms, AllWorkForARoleThatMayOnlyEnqueue) {
    const std::vector<Message> two = {message("1"), message("2")};
    session.run("begin");
    session.run("set local role outrider_writer");
    postgres::enqueue(session.get(), message("0"));
    postgres::enqueue(session.get(), two);
    postgres::copy(session.get(), two);
    run_statement(postgres::enqueue_statement(two));
    session.run("commit");
    auto unit = begin(session.get());
    session.run("set local role outrider_writer");
    unit.enqueue(message("last"));
    unit.enqueue(message("of all"));
    unit.commit();
    EXPECT_EQ(count(), "9");
}

TEST_F(PostgresForms, CopyKeepsTheOrderAndFillsInWhatIsMissing) {
    std::vector<Message> messages;
    Payloads expected;
    for (int i = 0; i < 3000; ++i) {
        expected.push_back(std::to_string(i));
        messages.push_back(message(expected.back()));
        if (i % 7 == 0) messages.back().occurred_at = WallTime(std::chrono::seconds(1'700'000'000));
    }
    messages[5].payload = expected[5] = std::string(1U << 20U, 'x');  // more than one piece
    messages[6].payload = expected[6] = "";
    session.run("begin");
    const auto ids = postgres::copy(session.get(), messages);
    session.run("commit");
    EXPECT_EQ(ids.size(), messages.size());
    EXPECT_EQ(
        session.value("select count(*) from outrider.message where occurred_at < now() - interval "
                      "'1 year'"),
        "429"
    );
    EXPECT_EQ(take_all(*log.open(everything()), 10000), expected);
}

TEST_F(PostgresForms, CopyIsRefusedWhereEnqueueIs) {
    const std::vector<Message> one = {message("1")};
    EXPECT_NE(
        failure_text([&] { postgres::copy(session.get(), one); }).find("no transaction is open"),
        std::string::npos
    );
    session.run("begin");
    std::vector<Message> bad = {message("1"), message("2")};
    bad[1].topic = std::string(256, 't');
    EXPECT_NE(
        failure_text([&] { postgres::copy(session.get(), bad); }).find("message.topic has 256"),
        std::string::npos
    );
    postgres::PostgresEnqueueOptions elsewhere;
    elsewhere.schema = "nowhere";
    EXPECT_NE(
        failure_text([&] { postgres::copy(session.get(), one, elsewhere); }).find("migrate up"),
        std::string::npos
    );
    EXPECT_EQ(PQtransactionStatus(session.get()), PQTRANS_INERROR);
    session.run("rollback");
    EXPECT_EQ(count(), "0");
}

TEST_F(PostgresForms, SizeIsCheckedBeforeTheDatabaseSeesIt) {
    session.run("begin");
    const Message large = message(std::string((1U << 20U) + 1, 'x'));
    const std::vector<Message> many = {message("1"), large};
    EXPECT_THROW(postgres::enqueue(session.get(), large), Failure);
    EXPECT_THROW(postgres::enqueue(session.get(), many), Failure);
    EXPECT_THROW(postgres::copy(session.get(), many), Failure);
    EXPECT_THROW(postgres::enqueue_statement(large), Failure);
    EXPECT_EQ(PQtransactionStatus(session.get()), PQTRANS_INTRANS);  // still good
    postgres::PostgresEnqueueOptions wide;
    wide.payload_bytes_max = 2U << 20U;
    postgres::enqueue(session.get(), large, wide);
    session.run("commit");
    EXPECT_EQ(count(), "1");
}

TEST_F(PostgresForms, WhatIsTooMuchForAStatementTakesSeveralAllOrNone) {
    std::vector<Message> much(70, message(std::string(1'000'000, 'x')));
    much.back().topic.clear();
    session.run("begin");
    EXPECT_NE(failure_text([&] { enqueue(session.get(), much); }), "");
    EXPECT_EQ(session.value("select count(*) from outrider.message"), "0");
    much.back().topic = "t";
    EXPECT_EQ(enqueue(session.get(), much).size(), 70U);
    EXPECT_EQ(session.value("select count(distinct cmin::text) from outrider.message"), "2");
    session.run("rollback");
}

TEST_F(PostgresForms, AFailedTransactionSaysSo) {
    session.run("begin");
    EXPECT_ANY_THROW(session.run("select 1/0"));
    const auto text = failure_text([&] { postgres::enqueue(session.get(), message("1")); });
    EXPECT_NE(text.find("has failed already"), std::string::npos);
}

TEST_F(PostgresForms, APipelineCarriesTheMessageInItsOwnRoundTrip) {
    session.run("create table orders (id int)");
    ASSERT_EQ(PQenterPipelineMode(session.get()), 1);
    send("begin");
    send("insert into orders values (1)");
    const postgres::PipelinedEnqueue sent = postgres::send_enqueue(session.get(), full());
    EXPECT_EQ(sent.id, *full().id);
    send("commit");
    ASSERT_EQ(PQpipelineSync(session.get()), 1);
    EXPECT_EQ(receive(), PGRES_COMMAND_OK);
    EXPECT_EQ(receive(), PGRES_COMMAND_OK);
    postgres::receive_enqueue(session.get(), sent);
    EXPECT_EQ(receive(), PGRES_COMMAND_OK);
    EXPECT_EQ(receive(), PGRES_PIPELINE_SYNC);
    ASSERT_EQ(PQexitPipelineMode(session.get()), 1);
    EXPECT_EQ(session.value("select count(*) from orders"), "1");
    EXPECT_EQ(count(), "1");
}

TEST_F(PostgresForms, APipelineInATransactionBegunBeforeNeedsNoFurtherProof) {
    session.run("begin");
    ASSERT_EQ(PQenterPipelineMode(session.get()), 1);
    const postgres::PipelinedEnqueue sent = postgres::send_enqueue(session.get(), message("1"));
    EXPECT_EQ(sent.results, 1);
    ASSERT_EQ(PQpipelineSync(session.get()), 1);
    postgres::receive_enqueue(session.get(), sent);
    EXPECT_EQ(receive(), PGRES_PIPELINE_SYNC);
    ASSERT_EQ(PQexitPipelineMode(session.get()), 1);
    session.run("rollback");
    EXPECT_EQ(count(), "0");
}

TEST_F(PostgresForms, APipelineWithoutATransactionIsRefused) {
    const auto send_one = [&] { (void)postgres::send_enqueue(session.get(), message("1")); };
    EXPECT_NE(failure_text(send_one).find("not in pipeline mode"), std::string::npos);
    ASSERT_EQ(PQenterPipelineMode(session.get()), 1);
    EXPECT_NE(failure_text(send_one).find("no transaction is open"), std::string::npos);

    send("select 1");  // something is under way, but no BEGIN
    const auto sent = postgres::send_enqueue(session.get(), message("1"));
    ASSERT_EQ(PQpipelineSync(session.get()), 1);
    EXPECT_EQ(receive(), PGRES_TUPLES_OK);
    EXPECT_NE(
        failure_text([&] { postgres::receive_enqueue(session.get(), sent); }
        ).find("no transaction is open in this pipeline"),
        std::string::npos
    );
    EXPECT_EQ(receive(), PGRES_PIPELINE_SYNC);
    ASSERT_EQ(PQexitPipelineMode(session.get()), 1);
    EXPECT_EQ(count(), "0");
}

TEST_F(PostgresForms, AFailureEarlierInThePipelineIsToldAndReadToItsEnd) {
    ASSERT_EQ(PQenterPipelineMode(session.get()), 1);
    send("begin");
    send("select 1/0");
    const auto sent = postgres::send_enqueue(session.get(), message("1"));
    ASSERT_EQ(PQpipelineSync(session.get()), 1);
    EXPECT_EQ(receive(), PGRES_COMMAND_OK);
    EXPECT_EQ(receive(), PGRES_FATAL_ERROR);
    EXPECT_NE(
        failure_text([&] { postgres::receive_enqueue(session.get(), sent); }
        ).find("a statement before it in the pipeline failed"),
        std::string::npos
    );
    EXPECT_EQ(receive(), PGRES_PIPELINE_SYNC);
    ASSERT_EQ(PQexitPipelineMode(session.get()), 1);
    session.run("rollback");
    EXPECT_EQ(count(), "0");
}

TEST_F(PostgresForms, ResultsReadOutOfOrderAreNoticed) {
    session.run("begin");
    ASSERT_EQ(PQenterPipelineMode(session.get()), 1);
    const auto sent = postgres::send_enqueue(session.get(), message("1"));
    ASSERT_EQ(PQpipelineSync(session.get()), 1);
    EXPECT_EQ(receive(), PGRES_COMMAND_OK);  // the caller took our answer
    EXPECT_NE(
        failure_text([&] { postgres::receive_enqueue(session.get(), sent); }
        ).find("read in another order"),
        std::string::npos
    );
}

TEST_F(PostgresForms, PlainEnqueueIsRefusedInPipelineMode) {
    session.run("begin");
    ASSERT_EQ(PQenterPipelineMode(session.get()), 1);
    const std::vector<Message> one = {message("1")};
    EXPECT_THROW(postgres::enqueue(session.get(), message("1")), Failure);
    EXPECT_THROW(postgres::copy(session.get(), one), Failure);
}

}  // namespace
}  // namespace outrider
