#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "stores/postgres/connection.h"
#include "stores/postgres/names.h"

namespace outrider::postgres {

// The version of our schema in this database; 0: there is none.
[[nodiscard]] Result<int> installed_version(const Connection& connection, const Names& names);

[[nodiscard]] int newest_version();

// Refuses (correct, upgrade) a database whose schema is not the one this build knows.
[[nodiscard]] Result<void> check_schema(const Connection& connection, const Names& names);

// Brings the schema to the newest version, one transaction per step; whoever comes second waits and
// finds it done. Then the roles, if we own the schema.
[[nodiscard]] Result<int> migrate_schema(
    const Connection& connection,
    const Names& names,
    std::size_t lanes
);

// What is missing of the schema's roles, as sentences that say what to do; nothing: they are there
// and may do what they must.
[[nodiscard]] Result<std::vector<std::string>> missing_roles(
    const Connection& connection,
    const Names& names
);

// All steps and the roles, as text for psql.
[[nodiscard]] std::string schema_text(const Names& names, std::size_t lanes);

}  // namespace outrider::postgres
