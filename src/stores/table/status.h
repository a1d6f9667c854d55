#pragma once

#include "core/store_admin.h"
#include "stores/postgres/connection.h"
#include "stores/table/held.h"
#include "stores/table/wording.h"

namespace outrider::table {

// Status is never a scan of a long table.
constexpr std::int64_t kCountMax = 100'000;

// How a destination stands. `held`: what its relays in this process hold back; null: there is none.
[[nodiscard]] Result<DestinationStatus> read_status(
    const postgres::Connection& connection,
    const Wording& wording,
    const Destination& destination,
    const Held* held
);

}  // namespace outrider::table
