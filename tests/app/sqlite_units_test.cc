// The three styles on SQLite's own handle and on SQLiteCpp.

#include <csignal>
#include <filesystem>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "outrider/sqlite_inbox.h"
#include "outrider/sqlite_unit.h"
#include "outrider/sqlitecpp.h"

#include "app/sqlite_side.h"
#include "app/unit_suite.h"
#include "support/sqlite_session.h"

namespace outrider {
namespace {

class SqliteClient : public SqliteSide {
public:
    SqliteClient() : session_(path()) { sqlite3_busy_timeout(session_.get(), 0); }

    auto begin() { return outrider::begin(session_.get()); }

    template <class Work>
    auto transactional(const Work& work, const Repeat& repeat = {}) {
        return outrider::transactional(session_.get(), work, reading(repeat));
    }

    template <class Tx>
    static void sql(Tx& tx, const std::string& text) {
        if (sqlite3_exec(tx.handle(), text.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
            throw std::runtime_error(sqlite3_errmsg(tx.handle()));
        }
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
    SqliteSession session_;
};

class SqliteCppClient : public SqliteSide {
public:
    SqliteCppClient() : database_(path(), SQLite::OPEN_READWRITE) {}

    auto begin() { return outrider::begin(database_); }

    template <class Work>
    auto transactional(const Work& work, const Repeat& repeat = {}) {
        return outrider::transactional(database_, work, reading(repeat));
    }

    template <class Tx>
    static void sql(Tx& tx, const std::string& text) {
        SQLite::Statement statement(*tx, text);
        while (statement.executeStep()) {
        }
    }

    void explicitly(const Message& message, bool commits) {
        SQLite::Transaction transaction(database_);
        database_.exec("insert into orders values (1, 0)");
        enqueue(database_, message);
        if (commits) transaction.commit();
    }
    void alone(const Message& message) { enqueue(database_, message); }
    void behind_its_back(const std::string& text) { database_.exec(text); }

private:
    SQLite::Database database_;
};

using Clients = ::testing::Types<SqliteClient, SqliteCppClient>;
INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, UnitSuite, Clients);

// Whatever is finalized on the way out makes the connection forget what went wrong.
TEST(SqliteUnit, AWriteBehindAnOpenSelectOfSqliteCppIsRunAgain) {
    SqliteCppClient client;
    client.behind_its_back("create table orders (id integer, n integer)");
    client.behind_its_back("insert into orders values (1, 0), (2, 0)");
    int runs = 0;
    client.transactional([&](auto& tx) {
        SQLite::Statement select(*tx, "select n from orders");
        select.executeStep();
        if (++runs == 1) client.other("update orders set n = n + 10");
        tx->exec("update orders set n = n + 1");
    });
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(client.other("select sum(n) from orders"), "22");
}

TEST(SqliteUnit, ARawHandlesOwnExceptionsAreRunAgainWhereTheyAreNamed) {
    SqliteClient client;
    client.behind_its_back("create table orders (id integer, n integer)");
    client.behind_its_back("insert into orders values (1, 0), (2, 0)");
    struct Code : std::exception {
        explicit Code(int code_) : code(code_) {}
        int code;
    };
    Repeat repeat;
    repeat.also = [](const std::exception& error) {
        const auto* code = dynamic_cast<const Code*>(&error);
        return code != nullptr && sqlite::may_repeat(code->code);
    };
    int runs = 0;
    const auto work = [&](auto& tx) {
        sqlite3_stmt* select = nullptr;
        sqlite3_prepare_v2(tx.handle(), "select n from orders", -1, &select, nullptr);
        const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> owner(select, sqlite3_finalize);
        sqlite3_step(select);
        if (++runs == 1) client.other("update orders set n = n + 10");
        const char* update = "update orders set n = n + 1";
        const int code = sqlite3_exec(tx.handle(), update, nullptr, nullptr, nullptr);
        if (code != SQLITE_OK) throw Code(code);
    };
    client.transactional(work, repeat);
    EXPECT_EQ(runs, 2);
}

TEST(SqliteUnit, WaitsForABusyDatabaseByTryingAgain) {
    SqliteClient client;
    client.behind_its_back("create table orders (id integer, n integer)");
    const SqliteSession other(client.path());
    other.run("begin immediate");
    Repeat repeat;
    repeat.also = [&](const std::exception&) {  // asked after the first try has failed
        if (sqlite3_get_autocommit(other.get()) == 0) other.run("commit");
        return false;
    };
    outrider::sqlite::UnitOptions options;
    options.repeat = repeat;
    const SqliteSession mine(client.path());
    sqlite3_busy_timeout(mine.get(), 0);
    outrider::transactional(
        mine.get(), [](auto& tx) { tx.enqueue(app_message("a")); }, options
    );
    EXPECT_EQ(client.payloads(), "a");
}

TEST(SqliteUnit, CommitsTheMessagesOfAnInboxsEffectWithItsRecord) {
    SqliteClient client;
    const sqlite::Inbox inbox;
    const MessageId id = MessageId::generate();
    for (const char* payload : {"first", "repeat"}) {
        auto unit = client.begin();
        inbox.once(unit.handle(), "billing", id, [&] { unit.enqueue(app_message(payload)); });
        unit.commit();
    }
    EXPECT_EQ(client.payloads(), "first");
}

TEST(SqliteUnit, AnEffectThatFailedInItCannotBeCommitted) {
    SqliteClient client;
    client.behind_its_back("create table orders (id integer, n integer)");
    const sqlite::Inbox inbox;
    const auto fail = [&](const char* before, const char* after) {
        auto unit = client.begin();
        const auto effect = [&] {
            SqliteClient::sql(unit, "insert into orders values (1, 0)");
            unit.enqueue(app_message("phantom"));
            throw std::runtime_error("card refused");
        };
        SqliteClient::sql(unit, before);
        const MessageId id = MessageId::generate();
        EXPECT_THROW(inbox.once(unit.handle(), "billing", id, effect), std::runtime_error);
        SqliteClient::sql(unit, after);
        unit.commit();
    };
    EXPECT_SAYS(app_failure([&] { fail("", ""); }), "effect of an inbox failed");
    EXPECT_ANY_THROW(fail("savepoint mine", "rollback to mine"));
    EXPECT_EQ(client.payloads(), "");
    EXPECT_EQ(client.other("select count(*) from orders"), "0");
    EXPECT_EQ(client.other("select count(*) from outrider_inbox"), "0");
    client.begin().commit();  // the connection is fit for another
}

// While it lives, no file of this process grows beyond this size: a disk that fails.
class FullStop {
public:
    explicit FullStop(std::uintmax_t bytes) {
        std::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit small{static_cast<rlim_t>(bytes), before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &small);
    }
    ~FullStop() { ::setrlimit(RLIMIT_FSIZE, &before_); }
    FullStop(const FullStop&) = delete;
    FullStop& operator=(const FullStop&) = delete;

private:
    rlimit before_{};
};

TEST(SqliteUnit, ADiskThatFailsInTheCommitLeavesItUnknown) {
    SqliteClient client;
    client.behind_its_back("create table orders (id integer, n integer)");
    auto unit = client.begin();
    SqliteClient::sql(unit, "insert into orders values (1, 0)");
    unit.enqueue(app_message("a"));
    bool unknown = false;
    std::string said;
    {
        const FullStop stop(std::filesystem::file_size(client.path() + "-wal"));
        try {
            unit.commit();
        } catch (const CommitUnknown& failure) {
            unknown = true;
            said = failure.what();
        }
    }
    EXPECT_TRUE(unknown);
    EXPECT_SAYS(said, "the disk failed during the commit");
    EXPECT_FALSE(unit.is_open());
    auto next = client.begin();  // the connection is fit for another
    next.enqueue(app_message("b"));
    next.commit();
    EXPECT_EQ(client.payloads(), "b");
}

TEST(SqliteUnit, ABusyDatabaseIsAFailureThatSaysRunAgain) {
    SqliteClient client;
    const SqliteSession other(client.path());
    other.run("begin immediate");
    try {
        auto unit = client.begin();
        FAIL() << "it began";
    } catch (const Failure& failure) {
        EXPECT_EQ(failure.remedy(), Remedy::yield) << failure.what();
    }
}

}  // namespace
}  // namespace outrider
