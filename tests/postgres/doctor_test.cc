#include "stores/postgres/doctor.h"

#include <algorithm>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "postgres/log.h"
#include "stores/postgres/bell_line.h"

namespace outrider {
namespace {

using postgres::DoctorFacts;

const Finding* find(const std::vector<Finding>& findings, const std::string& code) {
    const auto found = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) {
        return finding.code == code;
    });
    return found == findings.end() ? nullptr : &*found;
}

DoctorFacts healthy() {
    DoctorFacts facts;
    facts.server_version = 150004;
    facts.schema_installed = 4;
    facts.schema_newest = 4;
    return facts;
}

struct Rule {
    std::string code;
    Gravity gravity;
    std::function<void(DoctorFacts&)> harm;
};

TEST(PostgresDoctorRules, SayNothingOfAHealthyServer) {
    EXPECT_TRUE(judge(healthy()).empty());
}

TEST(PostgresDoctorRules, SayOneThingForEachHarm) {
    const std::vector<Rule> rules = {
        {"server_version", Gravity::fault, [](auto& f) { f.server_version = 120018; }},
        {"server_version", Gravity::hint, [](auto& f) { f.server_version = 190000; }},
        {"standby", Gravity::fault, [](auto& f) { f.standby = true; }},
        {"pooler", Gravity::hint, [](auto& f) { f.pooled = true; }},
        {"clock", Gravity::warning, [](auto& f) { f.clock_offset_millis = -6000; }},
        {"migration", Gravity::fault, [](auto& f) { f.schema_installed = 3; }},
        {"migration", Gravity::fault, [](auto& f) { f.schema_installed = 5; }},
        {"identity", Gravity::fault, [](auto& f) { f.foreign = "another cluster"; }},
        {"roles", Gravity::hint, [](auto& f) { f.missing_roles = {"no role"}; }},
        {"rights", Gravity::fault, [](auto& f) { f.missing_rights = {"select on cursor"}; }},
        {"xid_writers", Gravity::warning, [](auto& f) { f.xid_writers = {"shop"}; }},
        {"sessions", Gravity::hint, [](auto& f) { f.sees_sessions = false; }},
        {"read_only", Gravity::fault, [](auto& f) { f.read_only = true; }},
        {"autovacuum", Gravity::warning, [](auto& f) { f.autovacuum = false; }},
        {"autovacuum", Gravity::warning, [](auto& f) { f.unvacuumed = {"parked"}; }},
        {"transaction_timeout", Gravity::warning, [](auto& f) { f.transaction_timeout = 1000; }},
        {"fsync", Gravity::fault, [](auto& f) { f.fsync = false; }},
        {"full_page_writes", Gravity::warning, [](auto& f) { f.full_page_writes = false; }},
        {"synchronous_commit", Gravity::warning, [](auto& f) { f.lazy_commits = {"for shop"}; }},
        {"replication_slot", Gravity::warning, [](auto& f) { f.idle_slots = {"old"}; }},
        {"async_standby", Gravity::hint, [](auto& f) { f.async_standbys = 1; }},
        {"sequence_cache", Gravity::fault, [](auto& f) { f.sequence_cache = 10; }},
        {"sequence_set_back", Gravity::fault, [](auto& f) { f.sequence_set_back = true; }},
        {"encoding", Gravity::warning, [](auto& f) { f.encoding = "SQL_ASCII"; }},
        {"encoding", Gravity::hint, [](auto& f) { f.encoding = "LATIN1"; }},
        {"active_segment", Gravity::fault, [](auto& f) { f.active_is_open = false; }},
        {"bell", Gravity::warning, [](auto& f) { f.rings_for_nobody = true; }},
        {"long_transaction",
         Gravity::warning,
         [](auto& f) {
             f.holders = {{"pid 1 of x", 90, ""}};
         }},
        {"stuck_lanes",
         Gravity::fault,
         [](auto& f) {
             f.stuck = {{"orders", 2, 90}};
         }},
    };
    for (const Rule& rule : rules) {
        DoctorFacts facts = healthy();
        rule.harm(facts);
        const std::vector<Finding> findings = judge(facts);
        ASSERT_EQ(findings.size(), 1U) << rule.code;
        EXPECT_EQ(findings[0].code, rule.code);
        EXPECT_EQ(findings[0].gravity, rule.gravity) << rule.code;
        EXPECT_FALSE(findings[0].what.empty()) << rule.code;
        EXPECT_FALSE(findings[0].advice.empty()) << rule.code;
    }
}

TEST(PostgresDoctorRules, ToleratesWhatIsWithinBounds) {
    DoctorFacts facts = healthy();
    facts.clock_offset_millis = 4000;
    facts.transaction_timeout = 600'000;
    facts.server_version = 180004;
    EXPECT_TRUE(judge(facts).empty());
}

// On a real server: the harm is done by SQL, and the doctor must see it.
class PostgresDoctor : public ::testing::Test {
protected:
    PostgresDoctor() : session_(log_.conninfo) {}

    [[nodiscard]] static std::vector<Finding> examine(const PostgresLog& log) {
        Result<std::vector<Finding>> findings = log.admin()->examine();
        EXPECT_TRUE(findings) << findings.error().text;
        return findings ? *findings : std::vector<Finding>{};
    }

    // What it says of one code, empty if nothing.
    [[nodiscard]] std::string says(const std::string& code) const {
        const std::vector<Finding> findings = examine(log_);
        const Finding* finding = find(findings, code);
        return finding == nullptr ? "" : finding->what;
    }

    void expect_noticed(const std::string& code, const std::string& harm, const std::string& word) {
        EXPECT_EQ(says(code), "") << "before " << harm;
        session_.run(harm);
        EXPECT_NE(says(code).find(word), std::string::npos) << harm << ": " << says(code);
    }

    PostgresLog log_;
    PostgresSession session_;
};

TEST_F(PostgresDoctor, SeesOnlyTheTestServersOwnSinInAFreshLog) {
    const std::vector<Finding> findings = examine(log_);
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].code, "fsync") << "which is off, since tests have nothing to lose";
}

TEST_F(PostgresDoctor, SeesWhatWasChangedByHand) {
    expect_noticed("sequence_cache", "alter sequence outrider.seq cache 10", "CACHE 10");
    expect_noticed(
        "autovacuum", "alter table outrider.parked set (autovacuum_enabled = off)", "parked"
    );
    session_.run("alter table outrider.parked reset (autovacuum_enabled)");
    expect_noticed("autovacuum", "alter table outrider.dead set (autovacuum_enabled = 0)", "dead");
    expect_noticed("active_segment", "select setval('outrider.active', 3)", "active");
    expect_noticed("bell", "select setval('outrider.active', 1, false)", "a relay that is gone");
    expect_noticed("identity", "update outrider.setting set database_oid = 1", "another database");
    expect_noticed(
        "roles", "revoke usage on schema outrider from outrider_writer", "outrider_writer"
    );
    expect_noticed(
        "migration", "delete from outrider.schema_version where version > 1", "version 1"
    );
}

TEST_F(PostgresDoctor, SeesWhoMayDoTooMuchOrTooLittle) {
    session_.run("create role doctor_greedy; create role doctor_poor login");
    expect_noticed(
        "xid_writers", "grant insert on outrider.message to doctor_greedy", "doctor_greedy"
    );
    const PostgresLog poor(log_, log_.conninfo + " user=doctor_poor");
    const auto lacks = [&poor] { return find(examine(poor), "rights")->what; };
    EXPECT_NE(lacks().find("usage of the schema"), std::string::npos) << lacks();
    session_.run("grant usage on schema outrider to doctor_poor");
    EXPECT_NE(lacks().find("select on schema_version"), std::string::npos) << lacks();
    session_.run("grant select on outrider.schema_version, outrider.setting to doctor_poor");
    const std::vector<Finding> findings = examine(poor);
    ASSERT_NE(find(findings, "rights"), nullptr);
    for (const char* right :
         {"insert on progress", "update on segment", "update on active", "delete on mark"}) {
        EXPECT_NE(find(findings, "rights")->what.find(right), std::string::npos) << right;
    }
    EXPECT_NE(find(findings, "sessions"), nullptr);
    session_.run("drop owned by doctor_greedy, doctor_poor; drop role doctor_greedy, doctor_poor");
}

TEST_F(PostgresDoctor, SeesDefaultsOfTheDatabaseAndOfRoles) {
    const std::string database = session_.value("select current_database()");
    expect_noticed(
        "read_only",
        "alter database " + database + " set default_transaction_read_only = on",
        "read-only"
    );
    session_.run("create role doctor_lazy");
    expect_noticed(
        "synchronous_commit",
        "alter role doctor_lazy in database " + database + " set synchronous_commit = off",
        "doctor_lazy"
    );
    session_.run("alter role doctor_lazy in database " + database + " reset synchronous_commit");
    expect_noticed(
        "synchronous_commit",
        "alter role doctor_lazy in database " + database + " set synchronous_commit = False",
        "doctor_lazy"
    );
    session_.run("drop role doctor_lazy");
}

TEST_F(PostgresDoctor, NamesTransactionsThatHoldBackTruncation) {
    const PostgresSession holder(log_.conninfo);
    holder.run("begin; select pg_current_xact_id()");
    const PostgresSession preparer(log_.conninfo);
    preparer.run("begin; select outrider.enqueue('t', 'x'); prepare transaction 'doctor'");
    EXPECT_EQ(says("long_transaction"), "") << "no segment waits, and they are young";
    session_.run("select outrider.enqueue('t', 'x')");
    session_.run("update outrider.segment set opened_at = opened_at - interval '1 hour'");
    ASSERT_TRUE(log_.admin()->clean_up(Duration::zero(), 1000));
    const std::vector<Finding> findings = examine(log_);
    std::string all;
    for (const Finding& finding : findings) all += finding.what + "\n";
    const std::string pid = holder.value("select pg_backend_pid()");
    EXPECT_NE(all.find("pid " + pid + " of postgres"), std::string::npos) << all;
    EXPECT_NE(all.find("prepared transaction 'doctor' of postgres"), std::string::npos) << all;
    session_.run("rollback prepared 'doctor'");
}

TEST_F(PostgresDoctor, SaysNothingOfABellThatARelayWaitsFor) {
    const postgres::Names names = *postgres::Names::of("outrider");
    {
        Result<postgres::BellLine> line = postgres::BellLine::open(log_.conninfo, names);
        ASSERT_TRUE(line && line->raise());
        EXPECT_EQ(says("bell"), "");
    }
    const std::string nobody = "select count(*) = 0 from pg_locks where locktype = 'advisory'";
    while (session_.value(nobody) != "t") std::this_thread::yield();
    EXPECT_NE(says("bell"), "") << "its session has ended without a word";
}

TEST_F(PostgresDoctor, SeesLanesThatNobodyHasMoved) {
    const auto store = log_.open(everything("orders"));
    session_.run(
        "insert into outrider.message (topic, key, payload, occurred_at) "
        "values ('t', 'k', '', now() - interval '5 minutes')"
    );
    EXPECT_EQ(says("stuck_lanes"), "") << "an old message, but the lanes were moved just now";
    session_.run("update outrider.progress set moved_at = now() - interval '40 seconds'");
    EXPECT_NE(says("stuck_lanes").find("1 lanes of 'orders'"), std::string::npos)
        << says("stuck_lanes");
    insert(session_, "another", "fresh");
    EXPECT_NE(says("stuck_lanes").find("1 lanes of 'orders'"), std::string::npos)
        << "whoever has just come may wait";
    EXPECT_EQ(take_all(*store).size(), 2U);
    EXPECT_EQ(says("stuck_lanes"), "");
}

TEST(PostgresDoctorServer, SeesASickServer) {
    PostgresServer sick("autovacuum = off\nfull_page_writes = off\nsynchronous_commit = off");
    const PostgresLog log(2, sick);
    PostgresSession(log.conninfo).run("select pg_create_physical_replication_slot('idle')");
    const Result<std::vector<Finding>> findings = log.admin()->examine();
    ASSERT_TRUE(findings) << findings.error().text;
    for (const char* code :
         {"autovacuum", "full_page_writes", "synchronous_commit", "replication_slot", "fsync"}) {
        EXPECT_NE(find(*findings, code), nullptr) << code;
    }
}

TEST(PostgresDoctorServer, WorksWithoutTables) {
    postgres::StoreOptions options;
    options.conninfo = PostgresServer::shared().create_database();
    const auto admin = std::move(*postgres::make_driver(options)->open_admin({}));
    const Result<std::vector<Finding>> findings = admin->examine();
    ASSERT_TRUE(findings) << findings.error().text;
    ASSERT_NE(find(*findings, "migration"), nullptr);
    EXPECT_NE(find(*findings, "migration")->advice.find("migrate up"), std::string::npos);
}

}  // namespace
}  // namespace outrider
