#pragma once

#include "core/store_admin.h"
#include "stores/postgres/connection.h"
#include "stores/postgres/names.h"

namespace outrider::postgres {

// How everything stands. Counts of pending messages stop at ten thousand per lane: status is never
// a scan of the log.
[[nodiscard]] Result<Backlog> read_backlog(
    const Connection& connection,
    const Names& names,
    const std::vector<Destination>& expected
);

// How a statement fills in pending.sql.
struct PendingOf {
    std::string_view whole;   // an expression: whether c stands for all lanes
    std::string_view topics;  // an expression: an array of patterns
    std::string_view limit;   // an expression: of rows
    // Looked at, at most. Lanes are told apart row by row, and one may have no message at all.
    std::int64_t numbers = std::int64_t{1} << 60;
};

// Runs a statement with {pending} in it, in a transaction of its own. Reads what is pending by the
// log's index, and nothing that was delivered.
[[nodiscard]] Result<Rows> read_pending(
    const Connection& connection,
    const Names& names,
    std::string_view sql,
    const PendingOf& of,
    const Parameters& parameters = {}
);

// Takes the locks of all lanes of a destination in the open transaction, which waits for a relay
// that is about to leave. False: a relay serves it, whether in a turn or between two, and nothing
// more can be done in the transaction.
[[nodiscard]] Result<bool> lock_all_lanes(
    const Connection& connection,
    const Names& names,
    std::int64_t destination
);

// A destination that a relay serves right now, if there is one.
[[nodiscard]] Result<std::optional<std::string>> served_destination(
    const Connection& connection,
    const Names& names
);

// Patterns as an array of LIKE patterns.
[[nodiscard]] std::string like_patterns(const std::vector<std::string>& globs);

// A pattern in which * matches anything, as LIKE knows it.
[[nodiscard]] std::string like_pattern(std::string_view glob);

}  // namespace outrider::postgres
