#pragma once

#include "outrider/destination.h"

#include "core/result.h"
#include "stores/postgres/connection.h"
#include "stores/postgres/names.h"

namespace outrider::postgres {

struct Registered {
    std::int64_t id = 0;
    std::int64_t lanes = 0;
};

// Makes a destination known to the log, with a cursor per lane, unless it is. Refuses (correct) a
// log that is missing, older or newer than this build, that belongs to another cluster, or that
// knows the destination with another list of topics while a relay serves it.
[[nodiscard]] Result<Registered> register_destination(
    const Connection& connection,
    const Names& names,
    const Destination& destination
);

// The key of a lane's lock: the same in every process, other for every schema, destination and
// lane.
[[nodiscard]] std::int64_t lane_lock(
    const Names& names,
    std::int64_t destination,
    std::int64_t lane
);

}  // namespace outrider::postgres
