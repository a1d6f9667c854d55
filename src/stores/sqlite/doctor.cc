#include "stores/sqlite/doctor.h"

#include <filesystem>

#include <sqlite3.h>

#include "core/clock.h"
#include "stores/sqlite/migrate.h"
#include "stores/sqlite/sql.h"

namespace outrider::sqlite {
namespace {

constexpr int kOldestLibrary = 3035000;
constexpr std::int64_t kWalBytesMax = std::int64_t{256} << 20;
constexpr std::int64_t kFutureSecondsMax = 5;

Result<void> read_log(const Connection& connection, WallTime now, DoctorFacts& facts) {
    Result<Statement> log = connection.prepare(sql::doctor_log);
    if (!log) return log.error();
    if (const Result<bool> row = log->step(); !row) return row.error();
    const Duration ahead = from_millis(log->integer(0)) - now;
    facts.future_seconds = std::chrono::duration_cast<std::chrono::seconds>(ahead).count();
    facts.changed_trigger = log->integer(1) == 0;
    return {};
}

// Destinations that cannot be read are found by whoever asks how they stand; the rest is told.
void read_numbers(const Connection& connection, DoctorFacts& facts) {
    Result<Statement> numbers = connection.prepare(sql::doctor_numbers);
    if (!numbers) return;
    const Result<bool> row = numbers->step();
    if (!row || !*row) return;
    facts.last_number = numbers->integer(0);
    facts.last_passed = numbers->integer(1);
}

// An old dump of some tables only, or somebody who emptied sqlite_sequence: the guard refuses each
// new number as one that was passed already.
Finding numbers_lost(const DoctorFacts& facts) {
    const std::string last = std::to_string(facts.last_passed);
    return {
        Gravity::fault,
        "numbers",
        "the next message gets number " + std::to_string(facts.last_number + 1) +
            ", but a destination has passed " + last + ": writers are refused",
        "sqlite_sequence was not restored, or emptied; in SQL, in one transaction: delete from "
        "sqlite_sequence where name = 'outrider_message'; insert into sqlite_sequence (name, seq) "
        "values ('outrider_message', " +
            last + ");"};
}

}  // namespace

Result<DoctorFacts> read_facts(
    const Connection& connection,
    const std::string& path,
    WallTime now
) {
    DoctorFacts facts;
    facts.library_version = sqlite3_libversion_number();
    Result<Statement> mode = connection.prepare("pragma journal_mode");
    if (!mode) return mode.error();
    if (const Result<bool> row = mode->step(); !row) return row.error();
    facts.journal_mode = mode->text(0);
    std::error_code error;
    const auto bytes = std::filesystem::file_size(path + "-wal", error);
    if (!error) facts.wal_bytes = static_cast<std::int64_t>(bytes);
    const Result<int> installed = installed_version(connection.get());
    if (!installed) return installed.error();
    facts.schema_installed = *installed;
    facts.schema_newest = newest_version();
    if (facts.schema_installed != facts.schema_newest) return facts;
    if (Result<void> read = read_log(connection, now, facts); !read) return read.error();
    read_numbers(connection, facts);
    return facts;
}

std::vector<Finding> judge(const DoctorFacts& facts) {
    std::vector<Finding> findings;
    if (facts.library_version < kOldestLibrary) {
        findings.push_back(
            {Gravity::fault, "library_version", "SQLite is older than 3.35", "use a newer one"}
        );
    }
    if (facts.schema_installed != facts.schema_newest) {
        const bool old = facts.schema_installed < facts.schema_newest;
        findings.push_back(
            {Gravity::fault,
             "migration",
             "the tables have version " + std::to_string(facts.schema_installed) +
                 ", this build has " + std::to_string(facts.schema_newest),
             old ? "run 'outrider migrate up'" : "use a newer outrider"}
        );
    }
    if (facts.journal_mode != "wal") {
        findings.push_back(
            {Gravity::fault,
             "journal_mode",
             "the journal mode is '" + facts.journal_mode + "'",
             "something sets it: writers would wait for readers; let it be WAL"}
        );
    }
    if (facts.wal_bytes > kWalBytesMax) {
        findings.push_back(
            {Gravity::warning,
             "wal_size",
             "the WAL has grown to " + std::to_string(facts.wal_bytes >> 20) + " MiB",
             "some connection holds a read transaction open: find and end it"}
        );
    }
    if (facts.future_seconds > kFutureSecondsMax) {
        findings.push_back(
            {Gravity::warning,
             "clock",
             "the newest message happened " + std::to_string(facts.future_seconds) +
                 " s ahead of this machine's clock",
             "a writer's clock, or this one's, is wrong: synchronise them"}
        );
    }
    if (facts.changed_trigger) {
        findings.push_back(
            {Gravity::fault,
             "number_guard",
             "the trigger outrider_message_number is gone",
             "make it again (see 'outrider migrate print'): a writer that chooses numbers may lose "
             "messages"}
        );
    }
    if (facts.last_number < facts.last_passed) findings.push_back(numbers_lost(facts));
    return findings;
}

}  // namespace outrider::sqlite
