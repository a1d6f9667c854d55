#pragma once

#include <chrono>
#include <string>

#include "outrider/time.h"

#include "core/result.h"
#include "stores/postgres/connection.h"
#include "stores/postgres/names.h"

namespace outrider::postgres {

// Builds the parts of the log's index, one for each segment that has messages, beside the writers:
// to build an index in a transaction would lock them out. The step of the migration that makes the
// index takes them for its own. Waits as long as `patience` for transactions that were open before;
// then refuses (yield), and can be run again. While somebody else builds it: to be tried again
// (wait).
[[nodiscard]] Result<void> build_index(
    const Connection& connection,
    const Names& names,
    Duration patience = std::chrono::seconds(60)
);

// Who has a transaction open in this database, and for how long: the oldest one, in words.
[[nodiscard]] std::string oldest_transaction(const Connection& connection);

}  // namespace outrider::postgres
