#pragma once

#include <memory>
#include <string>

#include "config/config.h"
#include "core/store.h"
#include "stores/table/store.h"

// layout = "table": an outbox table that the application has, in PostgreSQL.
namespace outrider::cli {

// What is wrong with [store.table], key by key, or with destinations that would share rows.
[[nodiscard]] Problems check_table(const Config& config);

// Throw Stop where the check would have reported a problem.
[[nodiscard]] std::shared_ptr<StoreDriver> open_table(const Config& config);
[[nodiscard]] table::TablePlace table_place(const Config& config);

// The index that a relay wants, for a DBA. Needs no database.
[[nodiscard]] std::string table_schema_text(const Config& config);

}  // namespace outrider::cli
