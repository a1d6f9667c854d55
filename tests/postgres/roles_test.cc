#include <gtest/gtest.h>

#include "outrider/error.h"
#include "outrider/postgres.h"

#include "postgres/log.h"

// Enqueue by SQL, and who may do what.

namespace outrider {
namespace {

using Payloads = std::vector<std::string>;

std::string refusal(const PostgresSession& session, const std::string& sql) {
    try {
        session.run(sql);
    } catch (const std::exception& exception) {
        return exception.what();
    }
    return "";
}

bool is_denied(const PostgresSession& session, const std::string& sql) {
    return refusal(session, sql).find("permission denied") != std::string::npos;
}

struct Seen {
    std::string id, topic, key, type, content_type, payload, header;
};

Seen seen_of(const Envelope& e) {
    std::string header;
    if (!e.headers.empty()) {
        header = std::string(e.headers[0].name) + "=" + std::string(e.headers[0].value);
    }
    return {
        e.id.to_string(),
        std::string(e.topic),
        std::string(e.key),
        std::string(e.type),
        std::string(e.content_type),
        std::string(e.payload),
        header};
}

// The message that waits, settled as done. Turns without one are settled, too: they move windows.
Seen take_one(Store& store) {
    std::vector<Seen> seen;
    for (int turn = 0; turn < 10 && seen.empty(); ++turn) {
        Result<Batch> batch = store.claim({10, 1000});
        if (!batch) throw std::runtime_error(batch.error().text);
        for (const Envelope& envelope : batch->envelopes) seen.push_back(seen_of(envelope));
        if (!batch->hold) continue;
        Settlement done;
        done.fate = Fate::done;
        const std::vector<Settlement> settlements(batch->envelopes.size(), done);
        const Result<void> settled = store.settle(std::move(batch).value(), settlements);
        if (!settled) throw std::runtime_error(settled.error().text);
    }
    return seen.at(0);
}

TEST(PostgresFunction, EnqueuesJsonTextAndBytesAndReturnsTheId) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    const auto store = log.open(everything());
    const std::string json = session.value(
        "select outrider.enqueue('orders.placed', '{\"id\": 1}'::jsonb, key => 'ada', "
        "type => 'order', headers => '{\"trace\": \"x\"}')"
    );
    const Seen first = take_one(*store);
    EXPECT_EQ(first.id, json);
    EXPECT_EQ(first.topic, "orders.placed");
    EXPECT_EQ(first.key, "ada");
    EXPECT_EQ(first.type, "order");
    EXPECT_EQ(first.content_type, "application/json");
    EXPECT_EQ(first.payload, "{\"id\": 1}");
    EXPECT_EQ(first.header, "trace=x");

    const std::string mine = "0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f";
    session.run(
        "select outrider.enqueue('t', 'h\xc3\xa4', content_type => 'text/plain', id => '" + mine +
        "')"
    );
    const Seen second = take_one(*store);
    EXPECT_EQ(second.id, mine);
    EXPECT_EQ(second.payload, "h\xc3\xa4");
    EXPECT_EQ(second.content_type, "text/plain");
    EXPECT_EQ(second.key, "");

    session.run("select outrider.enqueue('t', '\\x00ff00'::bytea)");
    EXPECT_EQ(take_one(*store).payload, std::string("\0\xff\0", 3));
}

TEST(PostgresFunction, IsPartOfTheCallersTransaction) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    const auto store = log.open(everything());
    session.run("begin; select outrider.enqueue('t', 'phantom'); rollback");
    session.run("begin; select outrider.enqueue('t', 'real'); commit");
    EXPECT_EQ(take_all(*store), Payloads{"real"});
}

TEST(PostgresFunction, HoldsAMessageBackUntilItsTime) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    session.run("select outrider.enqueue('t', 'later', deliver_after => now() + interval '1 hour')"
    );
    const auto store = log.open(everything());
    const Result<Batch> batch = store->claim({10, 1000});
    ASSERT_TRUE(batch);
    ASSERT_EQ(batch->envelopes.size(), 1U);
    EXPECT_TRUE(batch->envelopes[0].deliver_after);
}

TEST(PostgresFunction, RefusesWhatNobodyCouldDeliverAndSaysWhy) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    const std::vector<std::pair<std::string, std::string>> refusals = {
        {"'', 'x'", "topic is empty"},
        {"null, 'x'", "topic is empty"},
        {"repeat('t', 256), 'x'", "topic has 256 bytes, the limit is 255"},
        {"'t', 'x', key => repeat('k', 1025)", "key has 1025 bytes, the limit is 1024"},
        {"'t', null::jsonb", "payload is null"},
        {"'t', null::bytea", "payload is null"},
        {"'t', 'x', headers => '[]'", "headers must be a JSON object"},
        {"'t', 'x', headers => '{\"a\": 1}'", "header 'a' must be a text, not number"},
        {"'t', 'x', headers => '{\"\": \"b\"}'", "a header has no name"},
        {"'t', 'x', headers => '{\"a\": \"b\\nc\"}'", "header 'a' contains a control character"},
        {"'t', 'x', headers => jsonb_build_object('a', repeat('b', 8193))",
         "header 'a' has more than 8192 bytes"},
        {"'t', 'x', headers => (select jsonb_object_agg(i, 'v') from generate_series(1, 65) i)",
         "headers has 65 entries, the limit is 64"},
        {"'t', 'x', type => E'a\\nb'", "type or content_type contains a control character"},
        {"'t', 'x', deliver_after => 'infinity'", "deliver_after is infinity"},
        {"'t', 'x', id => '00000000-0000-0000-0000-000000000000'", "id is the nil id"},
    };
    for (const auto& [arguments, reason] : refusals) {
        const std::string said = refusal(session, "select outrider.enqueue(" + arguments + ")");
        EXPECT_NE(said.find("outrider: " + reason), std::string::npos) << arguments << ": " << said;
    }
    EXPECT_EQ(session.value("select count(*) from outrider.message"), "0");
}

// A log with a login for each role. Roles belong to the cluster, so logins are named by the schema.
class PostgresRoles : public ::testing::Test {
protected:
    PostgresRoles() : owner_(log_.conninfo) {}

    // The conninfo of a new login with one role and nothing else.
    std::string login(const std::string& role) {
        const std::string name = "login_" + std::to_string(::getpid()) + "_" +
                                 owner_.value("select current_database()") + "_" + role;
        owner_.run("create role " + name + " login in role " + role);
        return log_.conninfo + " user=" + name;
    }

    PostgresLog log_;
    PostgresSession owner_;
};

TEST_F(PostgresRoles, AWriterEnqueuesInEveryWay) {
    const PostgresSession writer(login("outrider_writer"));
    writer.run("insert into outrider.message (topic, key, payload) values ('t', 'k', 'insert')");
    // From here on it rings.
    owner_.run("select setval('outrider.active', last_value, false) from outrider.active");
    writer.run("select outrider.enqueue('t', 'text', key => 'k')");
    writer.run("select outrider.enqueue('t', '\"json\"'::jsonb, key => 'k', headers => '{}')");
    writer.run("select outrider.enqueue('t', 'bytes'::bytea, key => 'k')");
    Message message;
    message.topic = "t";
    message.key = "k";
    message.payload = "libpq";
    writer.run("begin");
    postgres::enqueue(writer.get(), message);
    writer.run("commit");
    const auto store = log_.open(everything());
    EXPECT_EQ(take_all(*store), (Payloads{"insert", "text", "\"json\"", "bytes", "libpq"}));
}

TEST_F(PostgresRoles, AWriterDoesNothingElse) {
    const PostgresSession writer(login("outrider_writer"));
    const std::string columns = "(xid, topic, payload) values ('5', 't', 'x')";
    for (const std::string& sql : std::vector<std::string>{
             "insert into outrider.message " + columns,
             "insert into outrider.message (seq, topic, payload) values (1, 't', 'x')",
             "insert into outrider.message (segment, topic, payload) values (2, 't', 'x')",
             "insert into outrider.message (topic, payload) values ('t', 'x') returning id",
             "insert into outrider.message_1 (topic, payload) values ('t', 'x')",
             "select * from outrider.message",
             "select * from outrider.message_1",
             "update outrider.message set topic = 'x'",
             "delete from outrider.message",
             "truncate outrider.message_1",
             "select setval('outrider.active', 2)",
             "select setval('outrider.seq', 1)",
             "select nextval('outrider.active')",
             "create table outrider.mine (x int)"}) {
        EXPECT_TRUE(is_denied(writer, sql)) << sql;
    }
    for (const std::string table :
         {"setting",
          "segment",
          "destination",
          "progress",
          "parked",
          "parked_key",
          "dead",
          "sample",
          "schema_version"}) {
        EXPECT_TRUE(is_denied(writer, "select * from outrider." + table)) << table;
        EXPECT_TRUE(is_denied(writer, "delete from outrider." + table)) << table;
    }
}

TEST_F(PostgresRoles, SomebodyWithoutARoleDoesNothing) {
    owner_.run("create role nobody_at_all login");
    const PostgresSession nobody(log_.conninfo + " user=nobody_at_all");
    EXPECT_TRUE(is_denied(nobody, "select outrider.enqueue('t', 'x')"));
    EXPECT_TRUE(is_denied(nobody, "insert into outrider.message (topic, payload) values ('t', '')")
    );
    owner_.run("drop role nobody_at_all");
}

TEST_F(PostgresRoles, ARelayRelaysRotatesTruncatesAndServesOperators) {
    PostgresLog relay(log_, login("outrider_relay"));
    auto store = relay.open(everything());
    const auto admin = relay.admin();
    owner_.run("select outrider.enqueue('t', 'dead'), outrider.enqueue('t', 'parked', key => 'k')");
    Result<Batch> batch = store->claim({10, 1000});
    ASSERT_TRUE(batch) << batch.error().text;
    ASSERT_EQ(batch->envelopes.size(), 2U);
    std::vector<Settlement> settlements(2);
    for (std::size_t i = 0; i < 2; ++i) {
        const bool dies = batch->envelopes[i].payload == "dead";
        settlements[i].fate = dies ? Fate::dead : Fate::again;
        settlements[i].park_key = batch->envelopes[i].order_key;
        settlements[i].due_at = batch->now;
    }
    const Result<void> settled = store->settle(std::move(batch).value(), settlements);
    ASSERT_TRUE(settled) << settled.error().text;
    EXPECT_EQ(take_all(*store), Payloads{"parked"});
    const Result<std::uint64_t> replayed = admin->replay_dead({});
    ASSERT_TRUE(replayed) << replayed.error().text;
    EXPECT_EQ(*replayed, 1U);
    EXPECT_EQ(take_all(*store), Payloads{"dead"});
    EXPECT_TRUE(admin->set_paused("all", true));
    EXPECT_TRUE(admin->set_paused("all", false));
    EXPECT_TRUE(admin->note_circuit("all", CircuitState::open, "away"));
    EXPECT_TRUE(admin->backlog({}));
    owner_.run("update outrider.segment set opened_at = opened_at - interval '1 hour'");
    std::uint64_t emptied = 0;
    for (int round = 0; round < 10 && emptied == 0; ++round) {
        const Result<std::uint64_t> cleaned = admin->clean_up(Duration::zero(), 1000);
        ASSERT_TRUE(cleaned) << cleaned.error().text;
        emptied += *cleaned;
        take(*store);
    }
    EXPECT_EQ(emptied, 1U);
    EXPECT_EQ(owner_.value("select count(*) from outrider.message"), "0");
    store.reset();
    const Result<bool> forgotten = admin->forget("all");
    ASSERT_TRUE(forgotten) << forgotten.error().text;
    EXPECT_TRUE(*forgotten);
}

TEST_F(PostgresRoles, ARelayWritesNoMessageAndChangesNoTable) {
    const PostgresSession relay(login("outrider_relay"));
    EXPECT_TRUE(is_denied(relay, "insert into outrider.message (topic, payload) values ('t', '')"));
    EXPECT_TRUE(is_denied(relay, "select outrider.enqueue('t', 'x')"));
    EXPECT_TRUE(is_denied(relay, "update outrider.message set topic = 'x'"));
    EXPECT_TRUE(is_denied(relay, "select nextval('outrider.seq')"));
    EXPECT_EQ(
        refusal(relay, "listen outrider_outrider; select setval('outrider.active', 1, false)"), ""
    );
    EXPECT_TRUE(is_denied(relay, "create table outrider.mine (x int)"));
    EXPECT_TRUE(is_denied(relay, "update outrider.schema_version set version = 1"));
}

// A message that is not seen would be passed over.
TEST_F(PostgresRoles, PoliciesThatHideMessagesStopARelayAndLoseNothing) {
    const PostgresLog relay(log_, login("outrider_relay"));
    const auto policies = [this](const std::string& what) {
        for (const std::string part : {"", "_1", "_2", "_3", "_4"}) {
            owner_.run("alter table outrider.message" + part + " " + what + " row level security");
        }
    };
    const auto store = relay.open(everything());
    policies("enable");
    owner_.run(
        "insert into outrider.message (topic, payload) select 't', 'x' from "
        "generate_series(1, 2000)"
    );
    EXPECT_NE(
        failure_text([&] { take_all(*store); }).find("row-level security"), std::string::npos
    );
    policies("disable");
    EXPECT_EQ(take_all(*relay.open(everything()), 1000).size(), 2000U);
}

TEST(PostgresMigrate, GivesByNameWhatNobodyHasByDefault) {
    const std::string conninfo = PostgresServer::shared().create_database();
    const PostgresSession dba(conninfo);
    dba.run("alter default privileges revoke execute on functions from public");
    postgres::StoreOptions options;
    options.conninfo = conninfo;
    options.schema = "hardened";
    ASSERT_TRUE((*postgres::make_driver(options)->open_admin({}))->migrate());
    dba.run(
        "create role hardened_app login in role hardened_writer; "
        "create role hardened_server login in role hardened_relay"
    );
    const PostgresSession app(conninfo + " user=hardened_app");
    dba.run("select setval('hardened.active', last_value, false) from hardened.active");
    app.run("insert into hardened.message (topic, payload) values ('t', 'plain')");
    app.run("select hardened.enqueue('t', 'called')");
    app.run("select hardened.commit_outcome(pg_current_xact_id(), gen_random_uuid())");
    options.conninfo += " user=hardened_server";
    const auto relay = postgres::make_driver(options);
    const auto store = relay->open(everything());
    ASSERT_TRUE(store) << store.error().text;
    EXPECT_EQ(take_all(**store).size(), 2U);
    const auto findings = (*relay->open_admin({}))->examine();
    ASSERT_TRUE(findings) << findings.error().text;
    for (const Finding& finding : *findings) EXPECT_NE(finding.code, "rights") << finding.what;
}

TEST_F(PostgresRoles, ARelayThatIsToldToMigrateFindsNothingToDo) {
    const PostgresLog relay(log_, login("outrider_relay"));
    const Result<SchemaVersion> version = relay.admin()->migrate();
    ASSERT_TRUE(version) << version.error().text;
    EXPECT_EQ(version->installed, version->newest);
    EXPECT_TRUE(version->remarks.empty());
}

TEST(PostgresMigrate, SaysWhichRolesItMayNotMakeAndMendsThemLater) {
    const std::string conninfo = PostgresServer::shared().create_database();
    const PostgresSession dba(conninfo);
    dba.run("create role plain_owner login");
    dba.run(
        "grant create on database " + dba.value("select current_database()") + " to plain_owner"
    );
    postgres::StoreOptions options;
    options.conninfo = conninfo + " user=plain_owner";
    options.schema = "roleless";
    const auto admin = std::move(*postgres::make_driver(options)->open_admin({}));
    const Result<SchemaVersion> first = admin->migrate();
    ASSERT_TRUE(first) << first.error().text;
    ASSERT_EQ(first->remarks.size(), 2U);
    EXPECT_NE(first->remarks[0].find("create role \"roleless_writer\""), std::string::npos)
        << first->remarks[0];
    dba.run(
        "create role roleless_writer; create role roleless_relay; "
        "create role roleless_app login in role roleless_writer"
    );
    const Result<SchemaVersion> second = admin->migrate();
    ASSERT_TRUE(second) << second.error().text;
    EXPECT_TRUE(second->remarks.empty());
    const PostgresSession app(conninfo + " user=roleless_app");
    app.run("select roleless.enqueue('t', 'x')");
    EXPECT_EQ(dba.value("select count(*) from roleless.message"), "1");
}

TEST(PostgresMigrate, PrintsTextThatMakesTheWholeSchema) {
    const std::string conninfo = PostgresServer::shared().create_database();
    postgres::StoreOptions options;
    options.conninfo = conninfo;
    const auto admin = std::move(*postgres::make_driver(options)->open_admin({}));
    const PostgresSession dba(conninfo);
    dba.run(admin->schema_text());
    const Result<SchemaVersion> version = admin->migrate();
    ASSERT_TRUE(version) << version.error().text;
    EXPECT_EQ(version->installed, version->newest);
    EXPECT_TRUE(version->remarks.empty());
    EXPECT_NE(admin->schema_text().find("create role"), std::string::npos);
}

TEST(PostgresMigrate, LivesInASchemaOfAnyAllowedName) {
    const std::string conninfo = PostgresServer::shared().create_database();
    const PostgresSession dba(conninfo);
    const std::string longest(40, 'a');
    for (const std::string& schema :
         std::vector<std::string>{"select", "Mixed_Case", "user", "_", longest}) {
        postgres::StoreOptions options;
        options.conninfo = conninfo;
        options.schema = schema;
        const auto driver = postgres::make_driver(options);
        const auto admin = std::move(*driver->open_admin({}));
        const Result<SchemaVersion> version = admin->migrate();
        ASSERT_TRUE(version) << schema << ": " << version.error().text;
        EXPECT_TRUE(version->remarks.empty()) << schema;
        dba.run("select \"" + schema + "\".enqueue('t', 'in " + schema + "', key => 'k')");
        auto store = driver->open(everything());
        ASSERT_TRUE(store) << store.error().text;
        EXPECT_EQ(take_all(**store), Payloads{"in " + schema});
        const std::string app = "app_" + std::to_string(schema.size()) + schema.substr(0, 5);
        dba.run("create role \"" + app + "\" login in role \"" + schema + "_writer\"");
        const PostgresSession writer(conninfo + " user='" + app + "'");
        writer.run("select \"" + schema + "\".enqueue('t', 'x')");
        const bool denied = is_denied(writer, "select \"select\".enqueue('t', '')");
        EXPECT_EQ(denied, schema != "select") << "a role is for one schema only";
    }
}

TEST(PostgresMigrate, RefusesASchemaNameThatCouldBeMoreThanAName) {
    for (const std::string& schema : std::vector<std::string>{
             "",
             "a\"; drop schema public; --",
             "a'b",
             "a b",
             "1a",
             "a.b",
             "a{schema}",
             "h\xc3\xa4",
             std::string("a\0b", 3),
             std::string(41, 'a')}) {
        postgres::StoreOptions options;
        options.schema = schema;
        try {
            [[maybe_unused]] const auto driver = postgres::make_driver(options);
            FAIL() << schema << " was accepted";
        } catch (const Failure& failure) {
            EXPECT_EQ(failure.remedy(), Remedy::correct);
            EXPECT_NE(std::string(failure.what()).find("schema name"), std::string::npos);
        }
    }
}

}  // namespace
}  // namespace outrider
