#include "stores/sqlite/migrate.h"

#include <array>
#include <chrono>

#include "outrider/sqlite.h"

#include "stores/sqlite/connection.h"
#include "stores/sqlite/sql.h"

namespace outrider::sqlite {
namespace {

// Step i brings version i to i + 1. Steps only go forward.
constexpr std::array kSteps = {
    sql::schema_001_log,
    sql::schema_002_inbox,
    sql::schema_003_logbook,
    sql::schema_004_ordering,
    sql::schema_005_sample,
};

constexpr const char* kVersionTable =
    "create table if not exists outrider_schema (version integer primary key, applied_at text not "
    "null "
    "default (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')))";

Result<void> run(sqlite3* database, const std::string& statements) {
    if (sqlite3_exec(database, statements.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK)
        return {};
    return error_of(database, "migration");
}

std::chrono::milliseconds patience_of(sqlite3* database) {
    Result<Statement> asked = Statement::prepare(database, "pragma busy_timeout");
    if (!asked) return {};
    const Result<bool> row = asked->step();
    return std::chrono::milliseconds(row && *row ? asked->integer(0) : 0);
}

// SQLite reads before it changes the mode, and whoever reads is not made to wait for a writer but
// refused at once, however patient the connection is. Whoever asks for the write lock waits.
Result<void> use_wal(sqlite3* database) {
    const auto give_up = std::chrono::steady_clock::now() + patience_of(database);
    for (;;) {
        Result<void> wal = run(database, "pragma journal_mode = wal");
        if (wal || (wal.error().native_code & 0xff) != SQLITE_BUSY) return wal;
        if (std::chrono::steady_clock::now() >= give_up) return wal;
        if (Result<void> free = run(database, "begin immediate; rollback"); !free) return free;
    }
}

// Whoever comes second finds the work done: the version is read under the write lock.
Result<void> take_step(sqlite3* database) {
    const Result<int> version = installed_version(database);
    if (!version) return version.error();
    if (*version >= newest_version()) return {};
    if (Result<void> made = run(database, kVersionTable); !made) return made;
    const auto step = static_cast<std::size_t>(*version);
    if (Result<void> made = run(database, std::string(kSteps.at(step))); !made) return made;
    return run(
        database,
        "insert into outrider_schema (version) values (" + std::to_string(*version + 1) + ")"
    );
}

Result<void> take_steps(sqlite3* database) {
    if (Result<void> begun = run(database, "begin immediate"); !begun) return begun;
    for (std::size_t i = 0; i < kSteps.size(); ++i) {
        if (Result<void> taken = take_step(database); !taken) {
            [[maybe_unused]] const Result<void> undone = run(database, "rollback");
            return taken;
        }
    }
    return run(database, "commit");
}

}  // namespace

Result<int> installed_version(sqlite3* database) {
    Result<Statement> table = Statement::prepare(
        database, "select 1 from sqlite_master where type = 'table' and name = 'outrider_schema'"
    );
    if (!table) return table.error();
    const Result<bool> exists = table->step();
    if (!exists) return exists.error();
    if (!*exists) return 0;
    Result<Statement> version =
        Statement::prepare(database, "select coalesce(max(version), 0) from outrider_schema");
    if (!version) return version.error();
    if (const Result<bool> row = version->step(); !row) return row.error();
    return static_cast<int>(version->integer(0));
}

int newest_version() {
    return static_cast<int>(kSteps.size());
}

Result<int> migrate_schema(sqlite3* database) {
    if (sqlite3_get_autocommit(database) == 0) {
        return Error{
            Remedy::correct, "a transaction is open on this connection: migrate outside one"};
    }
    Result<int> version = installed_version(database);
    if (!version || *version >= newest_version()) return version;
    if (Result<void> wal = use_wal(database); !wal) return wal.error();
    if (Result<void> taken = take_steps(database); !taken) return taken.error();
    return installed_version(database);
}

std::string schema_text() {
    std::string text = "pragma journal_mode = wal;\nbegin immediate;\n\n";
    text.append(kVersionTable).append(";\n");
    for (std::size_t i = 0; i < kSteps.size(); ++i) {
        text += "\n" + std::string(kSteps.at(i));
        text += "insert into outrider_schema (version) values (" + std::to_string(i + 1) + ");\n";
    }
    return text + "\ncommit;\n";
}

void migrate(sqlite3* database) {
    const Result<int> version = migrate_schema(database);
    if (!version) throw Failure(version.error());
}

}  // namespace outrider::sqlite
