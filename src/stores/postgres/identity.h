#pragma once

#include <optional>

#include "core/store_admin.h"
#include "stores/postgres/connection.h"
#include "stores/postgres/names.h"

namespace outrider::postgres {

// Refuses (correct) a log whose transaction ids are not those of the database it is in: a restored
// dump, a copy, a promoted standby. Its cursors would lose or repeat messages, or a copy would
// deliver what the original delivers.
[[nodiscard]] Result<void> check_identity(const Connection& connection, const Names& names);

// StoreAdmin::adopt. One transaction that keeps writers out. What destinations had not handled
// begins to wait, and their cursors start behind it: nothing is lost and nothing repeated.
[[nodiscard]] Result<Adoption> adopt_log(
    const Connection& connection,
    const Names& names,
    std::optional<bool> follow_promotions
);

}  // namespace outrider::postgres
