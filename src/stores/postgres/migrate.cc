#include "stores/postgres/migrate.h"

#include <array>
#include <bit>
#include <thread>

#include "stores/postgres/log_index.h"
#include "stores/postgres/registration.h"
#include "stores/postgres/sql.h"
#include "stores/postgres/status.h"

namespace outrider::postgres {
namespace {

constexpr std::size_t kLanesMax = 256;

// Step i brings version i to i + 1. Steps only go forward.
constexpr std::array kSteps = {
    sql::schema_001_log,
    sql::schema_002_enqueue,
    sql::schema_003_inbox,
    sql::schema_004_logbook,
    sql::schema_005_ordering,
    sql::schema_006_identity,
    sql::schema_007_moved,
    sql::schema_008_outcome,
    sql::schema_009_bounds,
    sql::schema_010_header_text,
    sql::schema_011_numbers,
    sql::schema_012_lean,
    sql::schema_013_lighter,
    sql::schema_014_drawn,
    sql::schema_015_together,
};

// Whoever waits for a table makes all others wait behind it: not for long, rather again.
constexpr std::string_view kPatient = "set local lock_timeout = '200ms';\n";
constexpr int kTries = 120;
constexpr std::chrono::milliseconds kPause{500};

std::string begin_text(const Names& names) {
    return "begin isolation level read committed;\nselect pg_advisory_xact_lock(" +
           std::to_string(lane_lock(names, 0, -1)) + ");\n" + std::string(kPatient);
}

std::string roles_text(const Names& names) {
    return begin_text(names) + names.fill(sql::roles) + "commit;\n";
}

std::string step_text(const Names& names, std::size_t lanes, std::size_t step) {
    std::string text = begin_text(names);
    const std::string with_lanes = Names::fill(kSteps.at(step), "lanes", std::to_string(lanes));
    text += Names::fill(with_lanes, "lane_mask", std::to_string(lanes - 1));
    if (step == 0) {
        text +=
            "create table {schema}.schema_version (version integer primary key, applied_at "
            "timestamptz "
            "not null default now());\n";
    }
    text += "insert into {schema}.schema_version (version) values (" + std::to_string(step + 1) +
            ");\n";
    return names.fill(text + "commit;\n");
}

// A relay may be told to migrate, too, and does not own the schema: then there is nothing to do.
Result<void> make_roles(const Connection& connection, const Names& names) {
    const Result<Rows> ours = connection.run(
        "select pg_has_role(nspowner, 'usage') from pg_namespace where nspname = $1",
        Parameters().add(std::string_view(names.schema()))
    );
    if (!ours) return ours.error();
    if (ours->count() == 0 || !ours->boolean(0, 0)) return {};
    Result<void> made = connection.run_script(roles_text(names));
    if (!made) {
        [[maybe_unused]] const Result<void> undone = connection.run_script("rollback");
    }
    return made;
}

// Step 11 makes the log's index, and step 12 messages that older relays cannot read.
constexpr std::size_t kIndexStep = 10;

Result<void> prepare_index(const Connection& connection, const Names& names) {
    const Result<std::optional<std::string>> served = served_destination(connection, names);
    if (!served) return served.error();
    if (*served) {
        return Error{
            Remedy::yield,
            "a relay of an older version serves destination '" + **served +
                "', and could not read what is written afterwards: stop it, run 'outrider migrate "
                "up', start the new version. Nothing was changed"};
    }
    return build_index(connection, names);
}

// Tried long enough.
Error gave_up(const Connection& connection, const Error& error) {
    if (error.native_code != native_code_of("55P03")) return {Remedy::yield, error.text};
    return {
        Remedy::yield,
        "a table of the log is in use by a transaction that is open for long: " +
            oldest_transaction(connection) +
            ". Wait for it, or end it, and run 'outrider migrate up' again; nothing was changed. " +
            error.text};
}

Result<int> take_steps(const Connection& connection, const Names& names, std::size_t lanes) {
    for (int tries = 0;; ++tries) {
        Result<int> version = installed_version(connection, names);
        if (!version || *version >= newest_version()) return version;
        const auto step = static_cast<std::size_t>(*version);
        Result<void> taken = step == kIndexStep ? prepare_index(connection, names) : Result<void>();
        if (taken) taken = connection.run_script(step_text(names, lanes, step));
        if (taken) continue;
        [[maybe_unused]] const Result<void> undone = connection.run_script("rollback");
        // Somebody else may have taken the step while we waited for the lock.
        const Result<int> after = installed_version(connection, names);
        if (!after || *after > *version) continue;
        if (taken.error().remedy != Remedy::wait) return taken.error();
        if (tries >= kTries) return gave_up(connection, taken.error());
        std::this_thread::sleep_for(kPause);
    }
}

std::string only_a_shape(const Names& names) {
    return "the schema '" + names.schema() +
           "' has our tables without the rows that belong to them (a dump of the schema alone): "
           "drop the schema, then run 'outrider migrate up'";
}

}  // namespace

int newest_version() {
    return static_cast<int>(kSteps.size());
}

Result<int> installed_version(const Connection& connection, const Names& names) {
    const Result<Rows> table = connection.run(
        "select to_regclass($1) is not null",
        Parameters().add(std::string_view(names.fill("{schema}.schema_version")))
    );
    if (!table) return table.error();
    if (!table->boolean(0, 0)) return 0;
    const Result<Rows> version =
        connection.run(names.fill("select max(version) from {schema}.schema_version"));
    if (!version) return version.error();
    if (version->is_null(0, 0)) return Error{Remedy::correct, only_a_shape(names)};
    return static_cast<int>(version->integer(0, 0));
}

Result<void> check_schema(const Connection& connection, const Names& names) {
    const Result<int> version = installed_version(connection, names);
    if (!version) return version.error();
    if (*version == newest_version()) return {};
    if (*version > newest_version()) {
        return Error{
            Remedy::upgrade,
            "the schema '" + names.schema() + "' has version " + std::to_string(*version) +
                ", this build knows " + std::to_string(newest_version()) +
                ": use a newer outrider"};
    }
    return Error{
        Remedy::correct,
        "the database has no schema '" + names.schema() +
            "', or an old one: run 'outrider migrate up'"};
}

Result<std::vector<std::string>> missing_roles(const Connection& connection, const Names& names) {
    const Result<Rows> rows = connection.run(names.fill(sql::roles_missing));
    if (!rows) return rows.error();
    std::vector<std::string> missing;
    for (int row = 0; row < rows->count(); ++row) {
        const std::string role(rows->bytes(row, 0));
        const bool exists = rows->boolean(row, 1);
        missing.push_back(
            "the role " + role +
            (exists ? " lacks its rights: "
                    : " does not exist: run 'create role " + role +
                          " nologin' as a user who may create roles, then ") +
            "run 'outrider migrate up' as the owner of the schema"
        );
    }
    return missing;
}

Result<int> migrate_schema(const Connection& connection, const Names& names, std::size_t lanes) {
    if (!std::has_single_bit(lanes) || lanes > kLanesMax) {
        return Error{
            Remedy::correct,
            "a log cannot have " + std::to_string(lanes) + " lanes: give a power of two up to " +
                std::to_string(kLanesMax)};
    }
    Result<int> before = installed_version(connection, names);
    if (!before) return before;
    Result<int> version = take_steps(connection, names, lanes);
    if (!version || *version != newest_version()) return version;
    const Result<std::vector<std::string>> missing = missing_roles(connection, names);
    if (!missing) return missing.error();
    if (*before == *version && missing->empty()) return version;
    const Result<void> roles = make_roles(connection, names);
    if (!roles) return roles.error();
    return version;
}

std::string schema_text(const Names& names, std::size_t lanes) {
    std::string text =
        "-- For a database without this log. One that is there: 'outrider migrate up'.\n";
    for (std::size_t step = 0; step < kSteps.size(); ++step) text += step_text(names, lanes, step);
    return text + roles_text(names);
}

}  // namespace outrider::postgres
