#pragma once

#include <string>

#include "core/result.h"

struct sqlite3;

namespace outrider::sqlite {

// The version of our tables in this database; 0: there are none.
[[nodiscard]] Result<int> installed_version(sqlite3* database);

// The version this build knows.
[[nodiscard]] int newest_version();

// Brings the tables to the newest version, one transaction per step. Returns the version they have
// then.
[[nodiscard]] Result<int> migrate_schema(sqlite3* database);

// All steps, as text.
[[nodiscard]] std::string schema_text();

}  // namespace outrider::sqlite
