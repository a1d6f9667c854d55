#include "stores/postgres/migrate.h"

#include <array>

#include "stores/postgres/registration.h"
#include "stores/postgres/sql.h"

namespace outrider::postgres {
namespace {

// Step i brings version i to i + 1. Steps only go forward.
constexpr std::array kSteps = {sql::schema_001_log};

std::string step_text(const Names& names, std::size_t lanes, std::size_t step) {
    std::string text =
        "begin;\nselect pg_advisory_xact_lock(" + std::to_string(lane_lock(names, 0, -1)) + ");\n";
    text += Names::fill(kSteps.at(step), "lanes", std::to_string(lanes));
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

Result<int> migrate_schema(const Connection& connection, const Names& names, std::size_t lanes) {
    for (;;) {
        const Result<int> version = installed_version(connection, names);
        if (!version || *version >= newest_version()) return version;
        const auto step = static_cast<std::size_t>(*version);
        const Result<void> taken = connection.run_script(step_text(names, lanes, step));
        if (taken) continue;
        [[maybe_unused]] const Result<void> undone = connection.run_script("rollback");
        // Somebody else may have taken the step while we waited for the lock.
        const Result<int> after = installed_version(connection, names);
        if (!after || *after > *version) continue;
        return taken.error();
    }
}

std::string schema_text(const Names& names, std::size_t lanes) {
    std::string text;
    for (std::size_t step = 0; step < kSteps.size(); ++step) text += step_text(names, lanes, step);
    return text;
}

}  // namespace outrider::postgres
