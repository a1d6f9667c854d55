#pragma once

#include <cstdint>
#include <string>

#include "simulation/director.h"

namespace outrider::simulation {

// What many runs amount to.
class Summary {
public:
    void add(const Outcome& outcome);

    // One line for a person.
    [[nodiscard]] std::string text() const;

private:
    std::uint64_t seeds_ = 0;
    std::uint64_t messages_ = 0;
    std::uint64_t arrivals_ = 0;
    FaultTally tally_{};
    Duration took_ = Duration::zero();
    std::uint64_t hash_ = 0;
};

// A failed run for a person: what was broken, how to see it again, and how the run ended.
[[nodiscard]] std::string describe(const Outcome& outcome);

}  // namespace outrider::simulation
