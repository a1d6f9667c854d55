#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/finding.h"
#include "stores/table/wording.h"

namespace outrider::table {

// The statement that makes the index which claims read by: pending rows, oldest first. On a
// partitioned table writers wait for it: PostgreSQL makes no index concurrently there.
[[nodiscard]] std::string index_statement(const Wording& wording);

// What an operator should know of a table, for a doctor to print.
struct Advice {
    std::string text;
    std::string statement;  // that mends it; empty: nothing can, within this layout
    Gravity gravity = Gravity::hint;
};

// Where no index makes sure that an id is that of one row. Nothing: one does.
[[nodiscard]] Result<std::optional<Advice>> advise_on_id(
    const postgres::Connection& connection,
    const Wording& wording
);

// That, an index that is missing, and, plainly, what such a table cannot give. `connection` is read
// from.
[[nodiscard]] Result<std::vector<Advice>> advise(
    const postgres::Connection& connection,
    const Wording& wording
);

}  // namespace outrider::table
