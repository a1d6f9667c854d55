#include "outrider/sqlite.h"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "outrider/error.h"
#include "outrider/sqlite_store.h"

#include "core/clock.h"
#include "stores/sqlite/driver.h"
#include "stores/sqlite/lock.h"
#include "stores/sqlite/waker.h"
#include "support/sqlite_session.h"
#include "support/temp_folder.h"

namespace outrider {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class SqliteTest : public ::testing::Test {
protected:
    SqliteTest() { sqlite::migrate(session_.get()); }

    static Message message(std::string payload = "p") {
        Message message;
        message.topic = "t";
        message.key = "k";
        message.payload = std::move(payload);
        return message;
    }

    std::vector<std::string> claim_payloads(Batch& batch) {
        Destination destination;
        destination.name = "all";
        const auto driver = sqlite::open_store(path_);
        const auto store = std::move(driver->open(destination)).value();
        batch = std::move(store->claim({1000, 1U << 20U})).value();
        std::vector<std::string> payloads;
        for (const Envelope& envelope : batch.envelopes) payloads.emplace_back(envelope.payload);
        return payloads;
    }

    std::string error_of(const std::string& sql) {
        try {
            session_.run(sql);
        } catch (const std::exception& exception) {
            return exception.what();
        }
        return "";
    }

    TempFolder folder_;
    std::string path_ = folder_.file("shop.db");
    SqliteSession session_{path_};
};

TEST_F(SqliteTest, RefusesToEnqueueOutsideATransaction) {
    try {
        sqlite::enqueue(session_.get(), message());
        FAIL() << "it was accepted";
    } catch (const Failure& failure) {
        EXPECT_EQ(failure.remedy(), Remedy::correct);
        EXPECT_NE(std::string(failure.what()).find("no transaction is open"), std::string::npos);
    }
    EXPECT_EQ(session_.value("select count(*) from outrider_message"), "0");
}

TEST_F(SqliteTest, SaysWhatToDoWhenTheTablesAreMissing) {
    const SqliteSession other(folder_.file("other.db"));
    other.run("begin");
    try {
        sqlite::enqueue(other.get(), message());
        FAIL() << "it was accepted";
    } catch (const Failure& failure) {
        EXPECT_NE(std::string(failure.what()).find("outrider migrate up"), std::string::npos);
    }
}

TEST_F(SqliteTest, WritesAllOfManyOrNone) {
    session_.run("begin");
    session_.run("create table mine (x)");
    std::vector<Message> messages = {message("1"), message("2"), message("3")};
    messages[2].topic = "";
    EXPECT_THROW(sqlite::enqueue(session_.get(), messages), Failure);
    messages[2].topic = "t";
    EXPECT_EQ(sqlite::enqueue(session_.get(), messages).size(), 3U);
    session_.run("commit");
    EXPECT_EQ(session_.value("select count(*) from outrider_message"), "3");
}

TEST_F(SqliteTest, TakesAPlainInsertFromAnyLanguage) {
    session_.run("insert into outrider_message(topic, key, payload) values ('t', 'k', 'text')");
    session_.run("insert into outrider_message(topic, payload) values ('t', x'00ff')");
    Batch batch;
    EXPECT_EQ(claim_payloads(batch), (std::vector<std::string>{"text", std::string("\0\xff", 2)}));
    const Envelope& envelope = batch.envelopes[0];
    EXPECT_EQ(envelope.id.to_string()[14], '4') << "a UUID of version 4";
    EXPECT_NE(std::string("89ab").find(envelope.id.to_string()[19]), std::string::npos);
    EXPECT_NE(envelope.id, batch.envelopes[1].id);
    const Duration age = SystemClock().wall() - envelope.occurred_at;
    EXPECT_LT(age, seconds(60));
    EXPECT_GT(age, -seconds(1));
}

TEST_F(SqliteTest, TellsAWriterWhatIsWrongWithItsRow) {
    const auto insert = [](const std::string& columns, const std::string& values) {
        return "insert into outrider_message(" + columns + ") values (" + values + ")";
    };
    const std::pair<std::string, const char*> cases[] = {
        {insert("topic, payload", "'', 'x'"), "topic must be text"},
        {insert("topic, payload", "7, 'x'"), ""},
        {insert("topic, payload", "x'ff', 'x'"), "topic must be text"},
        {insert("topic, payload", "'t', 7"), "payload must be text or blob"},
        {insert("topic, payload", "'t', null"), "NOT NULL"},
        {insert("topic, payload, headers", "'t', 'x', 'oops'"), "headers must be a JSON object"},
        {insert("topic, payload, headers", "'t', 'x', '[1]'"), "headers must be a JSON object"},
        {insert("topic, payload, id", "'t', 'x', 'abc'"), "id must be a UUID"},
        {insert("topic, payload, deliver_after", "'t', 'x', datetime('now')"),
         "milliseconds since 1970"},
        {insert("topic, payload, occurred_at", "'t', 'x', 'now'"), "milliseconds since 1970"},
    };
    for (const auto& [sql, expected] : cases) {
        const std::string error = error_of(sql);
        if (*expected == '\0') {
            EXPECT_EQ(error, "") << sql;
        } else {
            EXPECT_NE(error.find(expected), std::string::npos) << sql << ": " << error;
        }
    }
}

TEST_F(SqliteTest, RefusesANumberThatARelayHasPassed) {
    session_.run("insert into outrider_message(topic, payload) values ('t', '1')");
    {
        Batch batch;
        Destination destination;
        destination.name = "all";
        const auto store = std::move(sqlite::open_store(path_)->open(destination)).value();
        batch = std::move(store->claim({10, 1000})).value();
        Settlement done;
        done.fate = Fate::done;
        ASSERT_TRUE(store->settle(std::move(batch), std::vector<Settlement>{done}));
    }
    const std::string error =
        error_of("insert into outrider_message(seq, topic, payload) values (-5, 't', 'lost')");
    EXPECT_NE(error.find("leave out the column seq"), std::string::npos) << error;
    EXPECT_EQ(error_of("insert into outrider_message(topic, payload) values ('t', '2')"), "");
}

TEST_F(SqliteTest, FindsAFlawInsteadOfStumbling) {
    session_.run(
        "insert into outrider_message(topic, payload, headers) values ('t', '1', '{\"a\":{}}')"
    );
    session_.run(
        "insert into outrider_message(topic, payload, headers) values ('t', '2', '{\"a\":7}')"
    );
    session_.run("insert into outrider_message(topic, payload) values (cast(x'ff' as text), '3')");
    Batch batch;
    claim_payloads(batch);
    ASSERT_EQ(batch.envelopes.size(), 3U);
    EXPECT_FALSE(batch.envelopes[0].flaw.empty());
    EXPECT_TRUE(batch.envelopes[1].flaw.empty());
    EXPECT_EQ(batch.envelopes[1].headers[0].value, "7");
    EXPECT_FALSE(batch.envelopes[2].flaw.empty());
}

TEST_F(SqliteTest, MigratesOnceHoweverManyTry) {
    const std::string path = folder_.file("fresh.db");
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&path] {
            const SqliteSession session(path);
            EXPECT_NO_THROW(sqlite::migrate(session.get()));
        });
    }
    threads.clear();
    const SqliteSession session(path);
    EXPECT_EQ(session.value("select count(*) = max(version) from outrider_schema"), "1");
    EXPECT_EQ(session.value("pragma journal_mode"), "wal");
    session.run("begin");
    EXPECT_THROW(sqlite::migrate(session.get()), Failure);
}

TEST_F(SqliteTest, MigratesWhenAnApplicationHasWritten) {
    const std::string path = folder_.file("busy.db");
    const SqliteSession writer(path);
    writer.run("create table orders (id)");
    writer.run("begin immediate");
    const SqliteSession session(path);
    const std::jthread ends([&writer] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        writer.run("commit");
    });
    EXPECT_NO_THROW(sqlite::migrate(session.get()));
}

TEST_F(SqliteTest, RefusesADatabaseWithoutOrWithNewerTables) {
    Destination destination;
    destination.name = "all";
    {
        const SqliteSession other(folder_.file("other.db"));
        other.run("create table x (y)");
    }
    const auto none = sqlite::open_store(folder_.file("other.db"))->open(destination);
    ASSERT_FALSE(none);
    EXPECT_NE(none.error().text.find("outrider migrate up"), std::string::npos);
    const SqliteSession other(folder_.file("other.db"));
    EXPECT_EQ(other.value("pragma journal_mode"), "delete") << "not ours to change";
    session_.run("insert into outrider_schema(version) values (99)");
    const auto newer = sqlite::open_store(path_)->open(destination);
    ASSERT_FALSE(newer);
    EXPECT_EQ(newer.error().remedy, Remedy::upgrade);
    EXPECT_FALSE(sqlite::open_store(folder_.file("missing.db"))->open(destination));
    EXPECT_FALSE(std::filesystem::exists(folder_.file("missing.db")));
}

// What is parked under its key would be passed by what is ordered by nothing but time, or the
// reverse.
TEST_F(SqliteTest, RefusesAnotherOrderWhileSomethingIsParked) {
    session_.run("begin");
    sqlite::enqueue(session_.get(), message());
    session_.run("commit");
    Destination destination;
    destination.name = "all";
    const auto driver = sqlite::open_store(path_);
    {
        const auto store = std::move(driver->open(destination)).value();
        Batch batch = std::move(store->claim({10, 1U << 20U})).value();
        const std::vector<Settlement> parked = {
            wait_until(batch.envelopes.at(0), SystemClock().wall() + seconds(100))};
        ASSERT_TRUE(store->settle(std::move(batch), parked));
    }
    destination.order = Order::global;
    const auto refused = driver->open(destination);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().remedy, Remedy::correct);
    EXPECT_NE(refused.error().text.find("order = \"key\""), std::string::npos);
    session_.run("delete from outrider_parked");
    session_.run("delete from outrider_parked_key");
    EXPECT_TRUE(driver->open(destination));
}

TEST_F(SqliteTest, PlansThatReadByIndexOnly) {
    const auto plan = [this](const std::string& sql) {
        std::string text;
        const auto take = [](void* to, int, char** columns, char**) {
            *static_cast<std::string*>(to) += std::string(columns[3]) + "; ";
            return 0;
        };
        sqlite3_exec(session_.get(), ("explain query plan " + sql).c_str(), take, &text, nullptr);
        return text;
    };
    EXPECT_EQ(
        plan("select seq, payload from outrider_message where seq > 5 order by seq limit 9"),
        "SEARCH outrider_message USING INTEGER PRIMARY KEY (rowid>?); "
    );
    const std::string due = plan(
        "select order_key from outrider_parked_key where destination = 1 and due_at <= 2 "
        "order by due_at limit 3"
    );
    EXPECT_NE(due.find("USING COVERING INDEX outrider_parked_key_due"), std::string::npos) << due;
    EXPECT_EQ(due.find("TEMP B-TREE"), std::string::npos) << due;
    const std::string chain = plan(
        "select payload from outrider_parked where destination = 1 and order_key = 2 order by seq"
    );
    EXPECT_NE(chain.find("outrider_parked_chain"), std::string::npos) << chain;
    EXPECT_EQ(chain.find("TEMP B-TREE"), std::string::npos) << chain;
}

TEST_F(SqliteTest, LocksADestinationForOneProcess) {
    sqlite::DestinationLock first(path_, 1);
    sqlite::DestinationLock second(path_, 1);
    sqlite::DestinationLock other(path_, 2);
    EXPECT_TRUE(*first.take());
    EXPECT_TRUE(*first.take()) << "having it is taking it";
    EXPECT_FALSE(*second.take());
    EXPECT_TRUE(*second.is_taken_elsewhere());
    EXPECT_TRUE(*other.take());
}

TEST_F(SqliteTest, WakesUpSoonAfterACommitOfSomebodyElse) {
    sqlite::SqliteWaker waker(path_);
    SystemClock clock;
    waker.wait(clock.now() + seconds(1));  // the first look always finds something new
    std::jthread writer([this] {
        std::this_thread::sleep_for(milliseconds(50));
        session_.run("insert into outrider_message(topic, payload) values ('t', '1')");
    });
    const MonoTime start = clock.now();
    waker.wait(start + seconds(20));
    EXPECT_LT(clock.now() - start, seconds(10)) << "woken, not timed out";
}

TEST_F(SqliteTest, WakesUpWhenRungAndAtItsTime) {
    sqlite::SqliteWaker waker(path_);
    SystemClock clock;
    waker.wait(clock.now() + seconds(1));
    const MonoTime start = clock.now();
    waker.ring();
    waker.wait(start + seconds(20));
    EXPECT_LT(clock.now() - start, seconds(10));
    waker.wait(clock.now() + milliseconds(30));
    EXPECT_GE(clock.now() - start, milliseconds(30));
}

}  // namespace
}  // namespace outrider
