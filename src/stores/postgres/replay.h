#pragma once

#include "core/store_admin.h"
#include "stores/postgres/connection.h"
#include "stores/postgres/names.h"

namespace outrider::postgres {

// StoreAdmin::replay on a PostgreSQL log: lane by lane, each in a transaction of its own and under
// the lane's lock, so that all of a key is replayed or nothing of it. The server copies; nothing of
// the messages comes here.
[[nodiscard]] Result<std::optional<std::uint64_t>> replay_history(
    const Connection& connection,
    const Names& names,
    const ReplayFilter& filter,
    bool dry_run
);

}  // namespace outrider::postgres
