#pragma once

#include "core/store_admin.h"
#include "stores/sqlite/connection.h"

namespace outrider::sqlite {

struct ReplayHow {
    WallTime now;
    bool dry_run = false;
};

// StoreAdmin::replay on a SQLite log: one write transaction, a message at a time, so that memory
// does not depend on how many there are. Writers wait for it.
[[nodiscard]] Result<std::optional<std::uint64_t>> replay_history(
    const Connection& connection,
    const ReplayFilter& filter,
    const ReplayHow& how
);

}  // namespace outrider::sqlite
