#include <iostream>
#include <string>

#include <gtest/gtest.h>

#include "simulation/director.h"
#include "simulation/report.h"
#include "support/environment.h"

namespace outrider::simulation {
namespace {

// Further ones rarely tell more.
constexpr std::size_t kFailuresMax = 5;

TEST(Simulation, KeepsItsPromisesUnderEveryFault) {
    const std::uint64_t first = number_from("FIRST_SEED", 1);
    const std::uint64_t seeds = number_from("SEEDS", 2000);
    Summary summary;
    std::size_t failures = 0;
    for (std::uint64_t seed = first; seed < first + seeds && failures < kFailuresMax; ++seed) {
        const Outcome outcome = run({.seed = seed});
        summary.add(outcome);
        if (outcome.violations.empty()) continue;
        ++failures;
        ADD_FAILURE() << describe(outcome);
    }
    std::cout << summary.text() << std::endl;
}

TEST(Simulation, ReplaysASeedExactly) {
    const std::uint64_t first = number_from("FIRST_SEED", 1);
    const std::uint64_t seeds = number_from("SEEDS", 2000);
    for (std::uint64_t seed = first; seed < first + seeds; seed += 100) {
        const Outcome once = run({.seed = seed});
        const Outcome again = run({.seed = seed, .keeps_lines = true});
        ASSERT_EQ(once.hash, again.hash) << "seed " << seed << " gives two different runs";
        ASSERT_EQ(once.history.arrivals.size(), again.history.arrivals.size());
    }
}

}  // namespace
}  // namespace outrider::simulation
