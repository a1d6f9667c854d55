// The three styles on libpq, libpqxx and SOCI over PostgreSQL.

#include <gtest/gtest.h>

#include "outrider/postgres_unit.h"
#include "outrider/pqxx.h"
#include "outrider/soci_postgres.h"
#include "outrider/testing.h"

#include "app/unit_suite.h"
#include "postgres/log.h"

// libpqxx 6.4 forgets a result whenever its connection turns out to be broken.
extern "C" const char* __lsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier)
    return "leak:libpqxx";
}

namespace outrider {
namespace {

// A database with Outrider's tables, looked at from another connection.
class PostgresSide {
public:
    static constexpr const char* kTable = "outrider.message";

    [[nodiscard]] const std::string& conninfo() const { return log_.conninfo; }
    std::string other(const std::string& text) const {
        if (text.starts_with("select")) return observer_.value(text);
        observer_.run(text);
        return "";
    }
    [[nodiscard]] std::string payloads() const {
        return other(
            "select string_agg(convert_from(payload, 'UTF8'), ',' order by seq) from "
            "outrider.message"
        );
    }

    // Notices a write after a read.
    static postgres::UnitOptions reading(const Repeat& repeat) {
        postgres::UnitOptions options;
        options.isolation = postgres::Isolation::repeatable_read;
        options.repeat = repeat;
        return options;
    }

private:
    PostgresLog log_;
    PostgresSession observer_{log_.conninfo};
};

class LibpqClient : public PostgresSide {
public:
    auto begin() { return outrider::begin(session_.get()); }

    template <class Work>
    auto transactional(const Work& work, const Repeat& repeat = {}) {
        return outrider::transactional(session_.get(), work, reading(repeat));
    }

    template <class Tx>
    static void sql(Tx& tx, const std::string& text) {
        postgres::check(PQexec(tx.handle(), text.c_str()));
    }

    void explicitly(const Message& message, bool commits) {
        session_.run("begin");
        session_.run("insert into orders values (1, 0)");
        enqueue(session_.get(), message);
        session_.run(commits ? "commit" : "rollback");
    }
    void alone(const Message& message) { enqueue(session_.get(), message); }
    void behind_its_back(const std::string& text) { session_.run(text); }

private:
    PostgresSession session_{conninfo()};
};

class PqxxClient : public PostgresSide {
public:
    auto begin() { return outrider::begin(connection_); }

    template <class Work>
    auto transactional(const Work& work, const Repeat& repeat = {}) {
        using Reading = pqxx::transaction<pqxx::repeatable_read>;
        return outrider::transactional<Reading>(connection_, work, reading(repeat));
    }

    template <class Tx>
    static void sql(Tx& tx, const std::string& text) {
        tx->exec(text);
    }

    void explicitly(const Message& message, bool commits) {
        pqxx::work tx(connection_);
        tx.exec("insert into orders values (1, 0)");
        enqueue(tx, message);
        if (commits) tx.commit();
    }

    // Handed over as what it is, a nontransaction does not compile (see below).
    void alone(const Message& message) {
        pqxx::nontransaction none(connection_);
        enqueue(static_cast<pqxx::transaction_base&>(none), message);
    }

    void behind_its_back(const std::string& text) {
        if (text != "commit") {
            pqxx::nontransaction(connection_).exec(text);
            return;
        }
        // libpqxx hides its connection; only the server can end the transaction behind its back.
        (void)other(
            "select pg_terminate_backend(pid, 60000) from pg_stat_activity where datname = "
            "current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'"
        );
    }

private:
    pqxx::connection connection_{conninfo()};
};

class SociPostgresClient : public PostgresSide {
public:
    auto begin() { return outrider::begin(session_); }

    template <class Work>
    auto transactional(const Work& work, const Repeat& repeat = {}) {
        return outrider::transactional(session_, work, reading(repeat));
    }

    template <class Tx>
    static void sql(Tx& tx, const std::string& text) {
        *tx << text;
    }

    void explicitly(const Message& message, bool commits) {
        soci::transaction transaction(session_);
        session_ << "insert into orders values (1, 0)";
        enqueue(session_, message);
        if (commits) transaction.commit();
    }
    void alone(const Message& message) { enqueue(session_, message); }
    void behind_its_back(const std::string& text) { session_ << text; }

private:
    soci::session session_{soci::postgresql, conninfo()};
};

using Clients = ::testing::Types<LibpqClient, PqxxClient, SociPostgresClient>;
INSTANTIATE_TYPED_TEST_SUITE_P(Postgres, UnitSuite, Clients);

// A message in each of two subtransactions, of which only the second is committed.
TEST(PostgresPqxx, AMessageIsRolledBackWithTheSubtransactionThatItBegan) {
    const PostgresSide side;
    pqxx::connection connection(side.conninfo());
    pqxx::work tx(connection);
    enqueue(tx, app_message("outer"));
    {
        pqxx::subtransaction gone(tx);
        enqueue(gone, app_message("gone"));
    }
    pqxx::subtransaction kept(tx);
    enqueue(kept, std::vector{app_message("a"), app_message("b")});
    enqueue(kept, OrderPaid{1});
    kept.commit();
    tx.commit();
    EXPECT_EQ(side.payloads(), "outer,a,b,paid 1");
}

// A server takes no statement of more than 1 GiB; what is beyond 64 MiB takes several.
template <class Client>
class PostgresMuch : public ::testing::Test {};
TYPED_TEST_SUITE(PostgresMuch, Clients);

TYPED_TEST(PostgresMuch, TakesSeveralStatements) {
    TypeParam client;
    const std::vector<Message> much(70, app_message(std::string(1'000'000, 'x')));
    client.transactional([&](auto& tx) {
        for (const Message& message : much) tx.enqueue(message);
    });
    const std::string parts =
        "select string_agg(n::text, ',' order by part) from (select cmin::text::int part, count(*) "
        "n from outrider.message group by 1) as parts";
    EXPECT_EQ(client.other(parts), "67,3");
    EXPECT_EQ(client.other("select count(distinct xmin::text) from outrider.message"), "1");
}

template <class Client>
class PostgresLetters : public ::testing::Test {};
TYPED_TEST_SUITE(PostgresLetters, Clients);

TYPED_TEST(PostgresLetters, AreRefusedWhereTheConnectionWouldChangeThem) {
    TypeParam client;
    client.behind_its_back("create table orders (id integer, n integer)");
    client.behind_its_back("set client_encoding to 'LATIN1'");
    Message zoe = app_message("1");
    zoe.key = "Zo\u00e9";
    const auto unit = [&] { client.transactional([&](auto& tx) { tx.enqueue(zoe); }); };
    EXPECT_SAYS(app_failure(unit), "set client_encoding to UTF8");
    client.behind_its_back("set client_encoding to 'SQL_ASCII'");  // nothing is converted
    unit();
    client.behind_its_back("set client_encoding to 'LATIN1'");
    EXPECT_SAYS(app_failure([&] { client.explicitly(zoe, true); }), "set client_encoding to UTF8");
    EXPECT_EQ(client.other("select string_agg(key, ',') from outrider.message"), zoe.key);
}

TEST(PostgresKit, SeesWhatATransactionEnqueuedAndDrainsIt) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    Message rich = app_message(std::string("\0\xff", 2));
    rich.type = "order.placed.v1";
    rich.headers = {{"b", "\"two\""}, {"traceparent", "00-1"}};
    rich.occurred_at = WallTime(std::chrono::microseconds(1'700'000'000'123'456));
    const testing::EnqueueWatch watch(session.get());
    session.run("begin");
    const MessageId id = enqueue(session.get(), rich);
    ASSERT_EQ(watch.messages().size(), 1U);
    const Message seen = watch.messages().front();
    EXPECT_EQ(seen.id, id);
    EXPECT_EQ(seen.payload, rich.payload);
    EXPECT_EQ(seen.headers, rich.headers);
    EXPECT_EQ(seen.occurred_at, rich.occurred_at);
    session.run("rollback");
    EXPECT_EQ(testing::difference(watch.messages(), {}), "");

    transactional(session.get(), [](auto& tx) { tx.enqueue(app_message("1")); });
    EXPECT_EQ(testing::difference(watch.messages(), {{.topic = "orders", .payload = "1"}}), "");
    const testing::MemoryBroker broker;
    testing::drain(log.driver(), broker.driver());
    ASSERT_EQ(broker.received().size(), 1U);
    EXPECT_EQ(broker.received()[0].payload, "1");
}

template <class Tx>
concept CanEnqueue = requires(Tx& tx, const Message& message) {
    enqueue(tx, message);
};
static_assert(CanEnqueue<pqxx::work>);
static_assert(CanEnqueue<pqxx::transaction_base>);
static_assert(!CanEnqueue<pqxx::nontransaction>, "a nontransaction must not compile");
static_assert(!CanEnqueue<pqxx::connection>, "a connection is not a transaction");

}  // namespace
}  // namespace outrider
