#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace outrider::postgres {

// What a cursor has handled: everything that is visible in a snapshot; and where to look for what
// is not. A transaction draws its id before its first number, so whoever knows a number that was
// drawn before an id knows that all messages of that transaction lie above it.
struct Passed {
    std::string snapshot;    // P, as the server writes it: xmin:xmax:id,id
    std::int64_t floor = 0;  // every id at or above P's xmax has numbers above it
    // For each id that was in progress in P, in P's order: it has numbers above this one. Those
    // that are missing may have any.
    std::vector<std::int64_t> late;
};

// A later snapshot, the floor of those that are not in it, and who wrote that floor: it was read
// before this id was drawn, so it holds for every id from there on.
struct Later {
    std::string_view snapshot;
    std::int64_t floor = 0;
    std::uint64_t floor_by = std::numeric_limits<std::uint64_t>::max();  // not known: nobody
};

// The floors of the ids that are in progress in a later snapshot: those that were in progress
// before keep their own, the others were drawn since, or even since its floor was read.
[[nodiscard]] std::vector<std::int64_t> late_floors(const Passed& passed, const Later& later);

// Where to look for what is new. `far`: ids that were in progress, and have floors so far below
// that it is better to look for their messages only once they have ended.
struct Reach {
    std::int64_t low = 0;  // all other messages that are new lie above it
    std::vector<std::uint64_t> far;
};
[[nodiscard]] Reach reach_of(const Passed& passed);

}  // namespace outrider::postgres
