#include <functional>

#include <gtest/gtest.h>

#include "outrider/sqlite.h"

#include "core/store_admin.h"
#include "stores/sqlite/doctor.h"
#include "stores/sqlite/driver.h"
#include "support/manual_clock.h"
#include "support/sqlite_session.h"
#include "support/temp_folder.h"

namespace outrider::sqlite {
namespace {

DoctorFacts healthy() {
    DoctorFacts facts;
    facts.library_version = 3040001;
    facts.schema_installed = 2;
    facts.schema_newest = 2;
    return facts;
}

TEST(SqliteDoctor, HasARuleForEachHarm) {
    EXPECT_TRUE(judge(healthy()).empty());
    struct Rule {
        std::string code;
        std::function<void(DoctorFacts&)> harm;
    };
    const std::vector<Rule> rules = {
        {"library_version", [](auto& f) { f.library_version = 3034000; }},
        {"migration", [](auto& f) { f.schema_installed = 1; }},
        {"journal_mode", [](auto& f) { f.journal_mode = "delete"; }},
        {"wal_size", [](auto& f) { f.wal_bytes = std::int64_t{1} << 30; }},
        {"clock", [](auto& f) { f.future_seconds = 60; }},
        {"number_guard", [](auto& f) { f.changed_trigger = true; }},
        {"numbers", [](auto& f) { f.last_passed = 7; }},
    };
    for (const Rule& rule : rules) {
        DoctorFacts facts = healthy();
        rule.harm(facts);
        const std::vector<Finding> findings = judge(facts);
        ASSERT_EQ(findings.size(), 1U) << rule.code;
        EXPECT_EQ(findings[0].code, rule.code);
        EXPECT_FALSE(findings[0].advice.empty());
    }
}

TEST(SqliteDoctor, SeesHarmInARealDatabase) {
    const TempFolder folder;
    const std::string path = folder.file("shop.db");
    const auto clock = std::make_shared<ManualClock>();
    const SqliteSession session(path);
    session.run("pragma journal_mode = wal");
    session.run("create table mine (x)");
    const auto admin = std::move(*make_driver(path, clock)->open_admin({}));
    const auto codes = [&admin] {
        std::string text;
        const Result<std::vector<Finding>> findings = admin->examine();
        EXPECT_TRUE(findings);
        for (const Finding& finding : *findings) text += finding.code + " ";
        return text;
    };
    EXPECT_EQ(codes(), "migration ");
    migrate(session.get());
    EXPECT_EQ(codes(), "");
    const auto later = clock->wall() + std::chrono::hours(1);
    session.run(
        "insert into outrider_message (topic, payload, occurred_at) values ('t', 'x', " +
        std::to_string(to_millis(later)) + ")"
    );
    EXPECT_EQ(codes(), "clock ");
    session.run("drop trigger outrider_message_number");
    EXPECT_EQ(codes(), "clock number_guard ");
}

// As after a dump of our tables only, which leaves sqlite_sequence out.
TEST(SqliteDoctor, SaysHowToMendNumbersThatStartAnew) {
    const TempFolder folder;
    const std::string path = folder.file("shop.db");
    const SqliteSession session(path);
    migrate(session.get());
    const auto insert = [&session] {
        session.run("insert into outrider_message (topic, payload) values ('t', 'x')");
    };
    for (int i = 0; i < 3; ++i) insert();
    Destination destination;
    destination.name = "all";
    destination.start = Start::now;
    const auto driver = make_driver(path, std::make_shared<SystemClock>());
    ASSERT_TRUE(driver->open(destination));
    const auto admin = std::move(*driver->open_admin({}));
    session.run("delete from sqlite_sequence");
    EXPECT_TRUE(admin->examine().value().empty()) << "the messages themselves still tell";
    session.run("delete from outrider_message");
    EXPECT_THROW(insert(), std::runtime_error);
    const std::vector<Finding> findings = admin->examine().value();
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].code, "numbers");
    EXPECT_EQ(findings[0].gravity, Gravity::fault);
    const std::string& advice = findings[0].advice;
    session.run(advice.substr(advice.find("delete from")));
    insert();
    EXPECT_EQ(session.value("select seq from outrider_message"), "4");
    EXPECT_TRUE(admin->examine().value().empty());
}

}  // namespace
}  // namespace outrider::sqlite
