#pragma once

#include "outrider/destination.h"

#include "stores/postgres/options.h"
#include "stores/table/store.h"

namespace outrider::table {

struct ImportReport {
    std::uint64_t moved = 0;  // pending rows that are messages of the log now
    std::uint64_t dead = 0;   // rows that were given up on: left where they are
    std::uint64_t other = 0;  // rows with a status that means nothing to us (a draft): likewise
};

struct ImportWishes {
    // A trigger sends later rows after those that are moved. False removes it.
    bool forwards = true;

    // The table keeps a key in order across its topics, the log each topic of a key by itself
    // (unless a destination's order is global). False: refuses where pending rows would notice.
    bool order_per_topic = false;
};

// Moves the pending rows of a table into the log, oldest first, and sets up a trigger that forwards
// every later row, inserted or made pending by an update, in one transaction that keeps writers and
// relays of the table out while it lasts: a team changes over without stopping, and without a
// message lost or sent twice. The rows are settled in the table as if they had been delivered. The
// log is created if it is missing. A later row that the log does not take fails its writer's own
// statement, since nobody would deliver it from the table.
//
// `rules`: by whose attempt limit a row is dead, and what order is expected. May be repeated.
// Remedy::wait: the table was in use for too long. Remedy::correct: see ImportWishes.
[[nodiscard]] Result<ImportReport> import_table(
    const TablePlace& place,
    const postgres::StoreOptions& log,
    const Destination& rules,
    const ImportWishes& wishes
);

}  // namespace outrider::table
