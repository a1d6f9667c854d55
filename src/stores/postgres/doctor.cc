#include "stores/postgres/doctor.h"

#include <algorithm>

#include "core/clock.h"
#include "core/text.h"
#include "stores/postgres/bell_line.h"
#include "stores/postgres/claim.h"
#include "stores/postgres/identity.h"
#include "stores/postgres/migrate.h"
#include "stores/postgres/sql.h"
#include "stores/postgres/status.h"

namespace outrider::postgres {
namespace {

// How far behind a cursor a message is looked for that should have been brought long ago.
constexpr std::int64_t kStuckNumbers = 100'000;

// A transaction that is open for so long is worth a word.
constexpr std::int64_t kLongSeconds = 60;

Result<void> read_server(const Connection& connection, DoctorFacts& facts) {
    const WallTime before = SystemClock().wall();
    const Result<Rows> rows = connection.run(std::string(sql::doctor_server));
    if (!rows) return rows.error();
    const WallTime after = SystemClock().wall();
    facts.server_version = rows->integer(0, 0);
    facts.standby = rows->boolean(0, 1);
    facts.read_only = rows->boolean(0, 2);
    facts.sees_sessions = rows->boolean(0, 3);
    facts.fsync = rows->boolean(0, 4);
    facts.full_page_writes = rows->boolean(0, 5);
    facts.autovacuum = rows->boolean(0, 6);
    facts.transaction_timeout = rows->integer(0, 7);
    facts.idle_slots = split(rows->bytes(0, 8), ',');
    facts.async_standbys = rows->integer(0, 9);
    facts.lazy_commits = split(rows->bytes(0, 10), ',');
    facts.encoding = rows->bytes(0, 12);
    // The statement took a while: its middle is the best guess.
    const Duration offset =
        from_server_time(rows->integer(0, 11)) - (before + (after - before) / 2);
    facts.clock_offset_millis =
        std::chrono::duration_cast<std::chrono::milliseconds>(offset).count();
    return {};
}

Result<void> read_log(const Connection& connection, const Names& names, DoctorFacts& facts) {
    const Result<Rows> rows = connection.run(names.fill(sql::doctor_log));
    if (!rows) return rows.error();
    facts.sequence_cache = rows->integer(0, 0);
    facts.unvacuumed = split(rows->bytes(0, 1), ',');
    facts.missing_rights = split(rows->bytes(0, 2), ',');
    facts.xid_writers = split(rows->bytes(0, 3), ',');
    return {};
}

Result<void> read_work(const Connection& connection, const Names& names, DoctorFacts& facts) {
    const Result<Rows> registers =
        connection.run(names.fill(sql::doctor_registers), Parameters().add(sleepers_lock(names)));
    if (!registers) return registers.error();
    facts.rings_for_nobody = registers->boolean(0, 0);
    facts.sequence_set_back = registers->boolean(0, 1);
    facts.active_is_open = registers->boolean(0, 2);
    const Result<Rows> holders =
        connection.run(names.fill(sql::doctor_holders), Parameters().add(kLongSeconds));
    if (!holders) return holders.error();
    for (int row = 0; row < holders->count(); ++row) {
        facts.holders.push_back(
            {std::string(holders->bytes(row, 0)),
             holders->integer(row, 1),
             std::string(holders->bytes(row, 2))}
        );
    }
    const Result<Rows> stuck = read_pending(
        connection,
        names,
        sql::doctor_stuck,
        {.whole = "d.ordering = 'global'",
         .topics = "t.patterns",
         .limit = "1",
         .numbers = kStuckNumbers}
    );
    if (!stuck) return stuck.error();
    for (int row = 0; row < stuck->count(); ++row) {
        facts.stuck.push_back(
            {std::string(stuck->bytes(row, 0)), stuck->integer(row, 1), stuck->integer(row, 2)}
        );
    }
    return {};
}

Result<void> read_ours(const Connection& connection, const Names& names, DoctorFacts& facts) {
    Result<std::vector<std::string>> roles = missing_roles(connection, names);
    if (!roles) return roles.error();
    facts.missing_roles = std::move(roles).value();
    if (Result<void> read = read_log(connection, names, facts); !read) return read;
    // Without its rights there is nothing more to see.
    if (!facts.missing_rights.empty()) return {};
    if (Result<void> ours = check_identity(connection, names); !ours) {
        if (ours.error().remedy != Remedy::correct) return ours;
        facts.foreign = ours.error().text;
    }
    return read_work(connection, names, facts);
}

// What whoever may not even read the version of the tables lacks.
Result<std::string> first_right(const Connection& connection, const Names& names) {
    const Result<Rows> rows =
        connection.run(names.fill("select has_schema_privilege('{schema}'::regnamespace, 'usage')")
        );
    if (!rows) return rows.error();
    return std::string(rows->boolean(0, 0) ? "select on schema_version" : "usage of the schema");
}

}  // namespace

Result<DoctorFacts> read_facts(const Connection& connection, const Names& names) {
    DoctorFacts facts;
    facts.pooled = connection.is_pooled();
    if (Result<void> read = read_server(connection, facts); !read) return read.error();
    const Result<int> installed = installed_version(connection, names);
    if (!installed && installed.error().remedy == Remedy::correct) {
        const Result<std::string> missing = first_right(connection, names);
        if (!missing) return missing.error();
        facts.missing_rights = {*missing};
        return facts;
    }
    if (!installed) return installed.error();
    facts.schema_installed = *installed;
    facts.schema_newest = newest_version();
    if (facts.schema_installed != facts.schema_newest) return facts;
    if (Result<void> read = read_ours(connection, names, facts); !read) return read.error();
    return facts;
}

}  // namespace outrider::postgres
