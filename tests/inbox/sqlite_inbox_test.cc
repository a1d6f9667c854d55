#include "outrider/sqlite_inbox.h"

#include "outrider/error.h"
#include "outrider/sqlite.h"

#include "inbox/inbox_suite.h"
#include "stores/sqlite/driver.h"
#include "support/sqlite_session.h"
#include "support/temp_folder.h"

namespace outrider {
namespace {

class SqliteInboxSession final : public InboxSession {
public:
    explicit SqliteInboxSession(const std::string& path) : session_(path) {
        sqlite3_busy_timeout(session_.get(), 60'000);
    }

    void run(const std::string& sql) override { session_.run(sql); }
    std::string value(const std::string& sql) override { return session_.value(sql); }
    void begin() override { run("begin immediate"); }
    Receipt once(
        const std::string& consumer,
        const Arrival& arrival,
        const Effect& effect,
        const InboxOptions& options
    ) override {
        return sqlite::Inbox(options).once(session_.get(), consumer, arrival, effect);
    }
    void enqueue(const Message& message) override { sqlite::enqueue(session_.get(), message); }
    std::uint64_t clean_up(std::size_t limit) override {
        return sqlite::Inbox().clean_up(session_.get(), limit);
    }
    bool claim_in_sql(const std::string& consumer, const MessageId& id) override {
        std::string text = id.to_string();
        std::transform(text.begin(), text.end(), text.begin(), ::toupper);
        run("insert into outrider_inbox (consumer, id) values ('" + consumer + "', '" + text +
            "') on conflict do nothing");
        return value("select changes()") == "1";
    }

private:
    SqliteSession session_;
};

class SqliteInboxHarness final : public InboxHarness {
public:
    SqliteInboxHarness() {
        const SqliteSession session(path_);
        sqlite::migrate(session.get());
        session.run("create table effect (id text)");
        records = "outrider_inbox";
        messages = "outrider_message";
        past = "1";
    }

    std::unique_ptr<InboxSession> connect() override {
        return std::make_unique<SqliteInboxSession>(path_);
    }
    std::unique_ptr<StoreAdmin> admin() override {
        const auto driver = sqlite::make_driver(path_, std::make_shared<SystemClock>());
        return std::move(driver->open_admin(StoreDriver::IfMissing::fail)).value();
    }

private:
    TempFolder folder_;
    const std::string path_ = folder_.file("shop.db");
};

INSTANTIATE_TEST_SUITE_P(
    Inboxes,
    InboxSuite,
    ::testing::Values(InboxParameter{
        "sqlite",
        [] { return std::make_unique<SqliteInboxHarness>(); }}),
    [](const auto& parameters) { return parameters.param.name; }
);

TEST(SqliteInbox, SaysWhatToDoWhereTheTablesAreMissing) {
    const TempFolder folder;
    const SqliteSession session(folder.file("new.db"));
    session.run("begin");
    try {
        sqlite::Inbox().once(session.get(), "billing", MessageId::generate(), [] {});
        FAIL() << "it was accepted";
    } catch (const Failure& failure) {
        EXPECT_EQ(failure.remedy(), Remedy::correct);
        EXPECT_NE(std::string(failure.what()).find("outrider migrate up"), std::string::npos);
    }
}

TEST(SqliteInbox, AnEffectThatEndsTheTransactionIsNotTakenForDone) {
    SqliteInboxHarness harness;
    const auto session = harness.connect();
    const MessageId id = MessageId::generate();
    const auto replace_transaction = [&] {
        session->run("rollback");
        session->run("begin immediate");
        session->run("insert into effect values ('of another transaction')");
    };
    session->begin();
    try {
        session->once("billing", id, replace_transaction, {});
        FAIL() << "there is no record of it";
    } catch (const Failure& failure) {
        EXPECT_EQ(failure.remedy(), Remedy::correct);
        EXPECT_NE(std::string(failure.what()).find("ROLLBACK"), std::string::npos);
    }
    session->roll_back();
    EXPECT_EQ(session->value("select count(*) from effect"), "0");
}

TEST(SqliteInbox, RefusesAnIdThatIsNoUuidFromOtherLanguages) {
    const TempFolder folder;
    const SqliteSession session(folder.file("shop.db"));
    sqlite::migrate(session.get());
    EXPECT_THROW(
        session.run("insert into outrider_inbox (consumer, id) values ('billing', 'order 7')"),
        std::runtime_error
    );
}

}  // namespace
}  // namespace outrider
