#include "stores/postgres/migrate.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "postgres/log.h"
#include "postgres/short_cut.h"
#include "stores/postgres/log_index.h"
#include "stores/postgres/registration.h"

// From an older log to the newest, while it is in use.

namespace outrider {
namespace {

using postgres::Names;

constexpr std::size_t kLanes = 4;

// As `migrate print` has it, a transaction for each step, up to this one.
std::string schema_until(int step) {
    const std::string text = postgres::schema_text(*Names::of("outrider"), kLanes);
    const std::size_t last = text.find("values (" + std::to_string(step) + ")");
    return text.substr(0, text.find("begin isolation level read committed;", last));
}

class PostgresOlderLog : public ::testing::Test {
protected:
    PostgresOlderLog() : conninfo_(PostgresServer::shared().create_database()) {
        // Step 7 changes a table that everybody uses.
        PostgresSession(conninfo_).run(schema_until(6));
        options_.conninfo = conninfo_;
        options_.lanes = kLanes;
        admin_ = std::move(*postgres::make_driver(options_)->open_admin({}));
    }

    void expect_newest() const {
        EXPECT_EQ(
            PostgresSession(conninfo_).value("select max(version) from outrider.schema_version"),
            std::to_string(postgres::newest_version())
        );
    }

    const std::string conninfo_;
    postgres::StoreOptions options_;
    std::unique_ptr<StoreAdmin> admin_;
};

TEST_F(PostgresOlderLog, GoesOnUnderWritersAndLosesNothing) {
    std::atomic<bool> over = false;
    std::atomic<std::size_t> written = 0;
    std::thread writer([&] {
        const PostgresSession session(conninfo_);
        for (; !over; ++written) insert(session, "k", std::to_string(written));
    });
    while (written < 50) std::this_thread::yield();
    const auto migrated = admin_->migrate();
    const std::size_t until = written + 50;
    while (written < until) std::this_thread::yield();
    over = true;
    writer.join();
    ASSERT_TRUE(migrated) << migrated.error().text;
    expect_newest();
    const auto store = std::move(*postgres::make_driver(options_)->open(everything()));
    const std::vector<std::string> taken = take_all(*store);
    ASSERT_EQ(taken.size(), written);
    for (std::size_t i = 0; i < taken.size(); ++i) ASSERT_EQ(taken[i], std::to_string(i));
}

TEST_F(PostgresOlderLog, WaitsForATableWithoutMakingOthersWaitForLong) {
    const PostgresSession holder(conninfo_);
    holder.run("begin; select from outrider.cursor");
    std::atomic<bool> over = false;
    Result<SchemaVersion> migrated = Error{};
    std::thread migration([&] {
        migrated = admin_->migrate();
        over = true;
    });
    const PostgresSession other(conninfo_);
    other.run("set statement_timeout = '10s'");
    while (!over && other.value("select count(*) from pg_locks where not granted") == "0") {
    }
    other.run("select from outrider.cursor");  // throws, if it waits for as long as the holder does
    EXPECT_FALSE(over);
    holder.run("commit");
    migration.join();
    ASSERT_TRUE(migrated) << migrated.error().text;
    expect_newest();
}

// Whoever built the index of a log beside its writers was stopped half way: what is left of it
// would never be used.
TEST_F(PostgresOlderLog, AnIndexThatWasLeftHalfBuiltIsBuiltAnew) {
    const PostgresSession session(conninfo_);
    insert(session, "k", "x");
    session.run("create index message_1_seq_idx on outrider.message_1 (seq)");
    session.run(
        "update pg_index set indisvalid = false where indexrelid = "
        "'outrider.message_1_seq_idx'::regclass"
    );
    const auto migrated = admin_->migrate();
    ASSERT_TRUE(migrated) << migrated.error().text;
    EXPECT_EQ(
        session.value("select count(*) filter (where i.indisvalid) || ' of ' || count(*) from "
                      "pg_index i join pg_class c on c.oid = i.indrelid where c.relname ~ "
                      "'^message(_[1-4])?$' and i.indrelid::regclass::text ~ '^outrider'"),
        "5 of 5"
    );
}

TEST_F(PostgresOlderLog, AnIndexIsNotWaitedForForEverAndHoldsUpNobody) {
    const PostgresSession session(conninfo_);
    insert(session, "k", "x");
    const PostgresSession reader(conninfo_);
    reader.run("begin isolation level repeatable read; select 1");
    const Names names = *Names::of("outrider");
    const auto connection = postgres::Connection::open(conninfo_).value();
    const auto patience = std::chrono::milliseconds(300);
    const Result<void> built = postgres::build_index(connection, names, patience);
    ASSERT_FALSE(built);
    EXPECT_EQ(built.error().remedy, Remedy::yield);
    EXPECT_NE(built.error().text.find("open for"), std::string::npos) << built.error().text;
    insert(session, "k", "y");
    reader.run("commit");
    EXPECT_TRUE(postgres::build_index(connection, names, patience)) << "what was left is of no use";
    ASSERT_TRUE(admin_->migrate());
    expect_newest();
}

TEST_F(PostgresOlderLog, IsNotChangedUnderARelayThatCouldNotReadIt) {
    const PostgresSession relay(conninfo_);
    relay.run("insert into outrider.destination (name, topics) values ('old', '[\"*\"]')");
    const std::int64_t lock = postgres::serving_lock(*Names::of("outrider"), 1);
    relay.run("select pg_advisory_lock_shared(" + std::to_string(lock) + ")");
    const auto refused = admin_->migrate();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().remedy, Remedy::yield);
    EXPECT_NE(refused.error().text.find("'old'"), std::string::npos) << refused.error().text;
    relay.run("select pg_advisory_unlock_all()");
    ASSERT_TRUE(admin_->migrate());
    expect_newest();
}

// Step 15 has one row for lanes that stand together: each stands where it stood before.
TEST(PostgresMigrate, LanesStayWhereTheyStood) {
    postgres::StoreOptions options;
    options.conninfo = PostgresServer::shared().create_database();
    options.lanes = kLanes;
    const PostgresSession session(options.conninfo);
    session.run(schema_until(14));
    session.run(
        "insert into outrider.cursor (destination, lane, turn, p, f, s, sf, u, last, nf, nf_by, "
        "sf_by, delivered, late) values "
        "(1, 0, 7, '9:9:', 1, null, null, null, null, 2, 9, 9, 5, '{}'), "
        "(1, 0, 8, '10:12:10', 3, null, null, null, null, 4, 11, 9, 6, '{1}'), "
        "(1, 1, 3, '10:12:10', 3, null, null, null, null, 4, 12, 9, 7, '{1}'), "
        "(1, 2, 8, '10:12:10', 3, '15:16:15', 4, 9, 5, 6, 13, 12, 8, '{1}'), "
        "(1, 3, 9, '14:14:', 5, null, null, null, null, 6, 13, 12, 9, '{}'), "
        "(2, 0, 8, '10:12:10', 3, null, null, null, null, 4, 11, 9, 1, '{1}')"
    );
    // A turn of a relay of before that is under way.
    const PostgresSession relay(options.conninfo);
    relay.run("begin; select from outrider.cursor");
    const auto admin = std::move(*postgres::make_driver(options)->open_admin({}));
    Result<SchemaVersion> migrated = Error{};
    std::thread migration([&] { migrated = admin->migrate(); });
    short_cut::wait_for_waiter(session);
    relay.run(
        "insert into outrider.cursor (destination, lane, turn, p, f, nf, delivered) "
        "values (2, 0, 9, '16:16:', 4, 7, 2)"
    );
    const std::string columns = "row(destination, lane, delivered, p, f, late, s, sf, u, last, nf)";
    const std::vector<std::string> before = relay.column(
        "select " + columns +
        " from (select distinct on (destination, lane) * from "
        "outrider.cursor order by destination, lane, turn desc) c order by destination, lane"
    );
    ASSERT_EQ(before.size(), 5U);
    relay.run("commit");
    migration.join();
    ASSERT_TRUE(migrated) << migrated.error().text;
    EXPECT_EQ(
        session.column("select " + columns + " from outrider.cursor order by destination, lane"),
        before
    );
    EXPECT_EQ(
        session.column("select row(destination, turn, lanes, nf_by, sf_by) from outrider.progress "
                       "order by destination, turn, lane"),
        (std::vector<std::string>{
            R"((1,8,"{0,1}",12,9))",
            "(1,8,{2},13,12)",
            "(1,9,{3},13,12)",
            "(2,9,{0},9223372036854775807,9223372036854775807)"})
    );
}

TEST(PostgresMigrate, SaysWhatIsMissingFromADumpOfTheSchemaAlone) {
    const PostgresLog log;
    PostgresSession(log.conninfo).run("delete from outrider.schema_version");
    for (const Error& error :
         {log.admin()->migrate().error(), log.driver()->open(everything()).error()}) {
        EXPECT_EQ(error.remedy, Remedy::correct);
        EXPECT_NE(error.text.find("drop the schema"), std::string::npos) << error.text;
    }
}

}  // namespace
}  // namespace outrider
