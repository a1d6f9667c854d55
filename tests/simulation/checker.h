#pragma once

#include <string>
#include <vector>

#include "simulation/history.h"

namespace outrider::simulation {

// A promise that a history breaks, and how.
struct Violation {
    enum class Promise : std::uint8_t {
        no_loss,       // committed: arrived, or a dead letter that an operator saw
        no_phantom,    // arrived: committed, and taken by that destination
        integrity,     // arrived as written, every time
        order,         // first arrivals of a key in the order written, as the rules of its
                       // destination allow
        duplicates,    // repeats only of what was in flight at a fault
        honest_death,  // dead: refused as often as the rules say, or unacceptable
        not_early,     // nothing before its time
        isolation,     // a bad message holds back its key, a bad broker its destination, no more
    };
    Promise promise = Promise::no_loss;
    std::string text;
};

[[nodiscard]] std::string_view to_string(Violation::Promise promise);

// Judges a run that has drained. Empty: all promises were kept. Pure.
[[nodiscard]] std::vector<Violation> check(const History& history);

}  // namespace outrider::simulation
