#include "outrider/postgres_inbox.h"

#include <functional>

#include "outrider/error.h"
#include "outrider/postgres.h"

#include "inbox/inbox_suite.h"
#include "postgres/log.h"

namespace outrider {
namespace {

class PostgresInboxSession final : public InboxSession {
public:
    explicit PostgresInboxSession(const std::string& conninfo) : session_(conninfo) {}

    void run(const std::string& sql) override { session_.run(sql); }
    std::string value(const std::string& sql) override { return session_.value(sql); }
    void begin() override { run("begin"); }
    Receipt once(
        const std::string& consumer,
        const Arrival& arrival,
        const Effect& effect,
        const InboxOptions& options
    ) override {
        postgres::PostgresInboxOptions all;
        static_cast<InboxOptions&>(all) = options;
        return postgres::Inbox(all).once(session_.get(), consumer, arrival, effect);
    }
    void enqueue(const Message& message) override { postgres::enqueue(session_.get(), message); }
    std::uint64_t clean_up(std::size_t limit) override {
        return postgres::Inbox().clean_up(session_.get(), limit);
    }
    bool claim_in_sql(const std::string& consumer, const MessageId& id) override {
        return value("select outrider.inbox_claim('" + consumer + "', '" + id.to_string() + "')") ==
               "t";
    }

private:
    PostgresSession session_;
};

class PostgresInboxHarness final : public InboxHarness {
public:
    PostgresInboxHarness() {
        PostgresSession(log_.conninfo).run("create table effect (id text)");
        records = "outrider.inbox";
        messages = "outrider.message";
        past = "'2020-01-01'";
    }

    std::unique_ptr<InboxSession> connect() override {
        return std::make_unique<PostgresInboxSession>(log_.conninfo);
    }
    std::unique_ptr<StoreAdmin> admin() override { return log_.admin(); }

private:
    const PostgresLog log_;
};

INSTANTIATE_TEST_SUITE_P(
    Inboxes,
    InboxSuite,
    ::testing::Values(InboxParameter{
        "postgres",
        [] { return std::make_unique<PostgresInboxHarness>(); }}),
    [](const auto& parameters) { return parameters.param.name; }
);

TEST(PostgresInbox, AsksForAFreshTransactionWhereTheIsolationLevelDemandsIt) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    const PostgresSession other(log.conninfo);
    const postgres::Inbox inbox;
    const MessageId id = MessageId::generate();
    session.run("begin isolation level repeatable read");
    session.run("select 1");
    other.run("begin");
    inbox.once(other.get(), "billing", id, [] {});
    other.run("commit");
    const auto take = [&] { return inbox.once(session.get(), "billing", id, [] {}); };
    try {
        take();
        FAIL() << "it was accepted";
    } catch (const Failure& failure) {
        EXPECT_EQ(failure.remedy(), Remedy::yield);
    }
    session.run("rollback");
    session.run("begin isolation level repeatable read");
    EXPECT_FALSE(take());
    session.run("commit");
}

// An effect that starts something on the connection, and throws.
using Start = std::function<void(PGconn*)>;

void expect_no_record_after(const Start& start) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    const postgres::Inbox inbox;
    const MessageId id = MessageId::generate();
    const auto fail = [&] {
        start(session.get());
        throw std::runtime_error("the effect failed");
    };
    session.run("begin");
    EXPECT_THROW(inbox.once(session.get(), "billing", id, fail), std::runtime_error);
    session.run("commit");
    EXPECT_EQ(session.value("select count(*) from outrider.inbox"), "0");
    session.run("begin");
    EXPECT_TRUE(inbox.once(session.get(), "billing", id, [] {}));
    session.run("commit");
}

TEST(PostgresInbox, AnEffectThatFailsAmidAResultCannotBeCommitted) {
    expect_no_record_after([](PGconn* connection) {
        ASSERT_EQ(PQsendQuery(connection, "select generate_series(1, 10000)"), 1);
        ASSERT_EQ(PQsetSingleRowMode(connection), 1);
        PQclear(PQgetResult(connection));
    });
}

TEST(PostgresInbox, AnEffectThatFailsAmidACopyCannotBeCommitted) {
    expect_no_record_after([](PGconn* connection) {
        PQclear(PQexec(connection, "copy (select generate_series(1, 10000)) to stdout"));
    });
}

TEST(PostgresInbox, AnEffectThatFailsInAPipelineCannotBeCommitted) {
    const auto send = [](PGconn* connection, const char* sql) {
        return PQsendQueryParams(connection, sql, 0, nullptr, nullptr, nullptr, nullptr, 0);
    };
    expect_no_record_after([](PGconn* connection) { ASSERT_EQ(PQenterPipelineMode(connection), 1); }
    );
    expect_no_record_after([&](PGconn* connection) {
        ASSERT_EQ(PQenterPipelineMode(connection), 1);
        ASSERT_EQ(send(connection, "select 1"), 1);
        ASSERT_EQ(PQpipelineSync(connection), 1);
        ASSERT_EQ(send(connection, "select generate_series(1, 10000)"), 1);
    });
}

TEST(PostgresInbox, CostsAKeysPositionNoIndexWriteMostOfTheTime) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    const postgres::Inbox inbox;
    session.run("begin");
    for (int i = 1; i <= 50; ++i) {
        inbox.once(session.get(), "billing", {MessageId::generate(), "t", "k", i}, [] {});
    }
    session.run("commit");
    session.run("select pg_stat_force_next_flush()");
    EXPECT_EQ(
        session.value(
            "select n_tup_upd = n_tup_hot_upd and n_tup_upd = 49 from pg_stat_user_tables "
            "where relname = 'inbox_position'"
        ),
        "t"
    );
}

TEST(PostgresInbox, LivesInAnotherSchemaToo) {
    PostgresLog log;
    log.options.schema = "elsewhere";
    ASSERT_TRUE(log.admin()->migrate());
    const PostgresSession session(log.conninfo);
    postgres::PostgresInboxOptions options;
    options.schema = "elsewhere";
    session.run("begin");
    EXPECT_TRUE(postgres::Inbox(options).once(session.get(), "billing", MessageId::generate(), [] {
    }));
    session.run("commit");
    EXPECT_EQ(session.value("select count(*) from elsewhere.inbox"), "1");
    options.schema = "no; drop";
    session.run("begin");
    EXPECT_THROW(
        postgres::Inbox(options).once(session.get(), "billing", MessageId::generate(), [] {}),
        Failure
    );
}

TEST(PostgresInbox, WritersUseItAndRelaysCleanItUp) {
    const PostgresLog log;
    const PostgresSession owner(log.conninfo);
    const auto login = [&](const std::string& role) {
        const std::string name = "inbox_" + role;
        owner.run("create role " + name + " login in role " + role);
        return log.conninfo + " user=" + name;
    };
    const PostgresSession writer(login("outrider_writer"));
    postgres::PostgresInboxOptions brief;
    brief.retention = Duration::zero();
    const postgres::Inbox inbox(brief);
    for (int i = 1; i <= 2; ++i) {
        writer.run("begin");
        EXPECT_TRUE(inbox.once(writer.get(), "billing", {MessageId::generate(), "t", "k", i}, [] {})
        );
        writer.run("commit");
    }
    EXPECT_THROW(writer.run("select * from outrider.inbox"), std::runtime_error);
    const PostgresSession relay(login("outrider_relay"));
    EXPECT_EQ(inbox.clean_up(relay.get()), 3U) << "two records and the position of a key";
}

}  // namespace
}  // namespace outrider
