#pragma once

#include "outrider/destination.h"

#include "core/result.h"
#include "stores/postgres/connection.h"
#include "stores/postgres/names.h"
#include "stores/shared/topic_list.h"

namespace outrider::postgres {

struct Registered {
    std::int64_t id = 0;
    std::int64_t lanes = 0;
    std::int64_t origin = 0;  // of ids that no writer gave, see log_id.h
    std::int64_t newest = 0;  // turn
};

// Makes a destination known to the log, with its topics and a cursor per lane, unless it is.
// Refuses (correct) a log that is missing, older or newer than this build, or from another cluster,
// and a destination whose list of topics, once ours, was replaced by somebody else's.
[[nodiscard]] Result<Registered> register_destination(
    const Connection& connection,
    const Names& names,
    const Destination& destination,
    TopicLists& lists
);

// The key of a lane's lock: the same in every process, other for every schema, destination and
// lane.
[[nodiscard]] std::int64_t lane_lock(
    const Names& names,
    std::int64_t destination,
    std::int64_t lane
);

// The key of the lock that whoever serves a destination shares with the others that do, for as long
// as it is connected.
[[nodiscard]] std::int64_t serving_lock(const Names& names, std::int64_t destination);

// The key of the lock under which a destination is made known, or forgotten.
[[nodiscard]] std::int64_t registration_lock(const Names& names, std::string_view destination);

// The text with the key of the lock under which the register `active` is set: it says two things,
// and whoever changes one of them must not undo the other.
[[nodiscard]] std::string with_register_lock(std::string_view sql, const Names& names);

}  // namespace outrider::postgres
