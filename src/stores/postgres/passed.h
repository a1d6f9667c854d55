#pragma once

#include <cstdint>
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

// The floors of the ids that are in progress in a later snapshot: those that were in progress
// before keep their own, the others were drawn since.
[[nodiscard]] std::vector<std::int64_t> late_floors(
    const Passed& passed,
    std::string_view later_snapshot
);

}  // namespace outrider::postgres
