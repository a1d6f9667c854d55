#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulation/bugs.h"
#include "simulation/checker.h"
#include "simulation/history.h"
#include "simulation/scenario.h"

namespace outrider::simulation {

// What came of one run.
struct Outcome {
    std::uint64_t seed = 0;
    std::vector<Violation> violations;
    std::uint64_t hash = 0;  // of everything that happened
    History history;
    FaultTally tally{};
    Duration took = Duration::zero();  // virtual
    std::vector<std::string> lines;    // the trace, if asked for
};

struct RunOptions {
    std::uint64_t seed = 1;
    Bug bug = Bug::none;
    bool keeps_lines = false;

    // Instead of what the seed would draw; the seed still decides everything that happens.
    std::optional<Scenario> scenario;
};

// One world from beginning to end: relays, producers and operators at work while faults strike;
// then everything is healed, and whatever was committed must arrive within a bounded time; then all
// stop and the checker judges. The same options give the same outcome, always.
[[nodiscard]] Outcome run(const RunOptions& options);

}  // namespace outrider::simulation
