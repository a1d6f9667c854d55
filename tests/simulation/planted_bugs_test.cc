#include <iostream>
#include <string>

#include <gtest/gtest.h>

#include "simulation/director.h"

namespace outrider::simulation {

static void PrintTo(Bug bug, std::ostream* out) {
    *out << to_string(bug);
}

namespace {

// A bug that needs more seeds than this is a gap in the simulation.
constexpr std::uint64_t kSeedsMax = 2000;

class PlantedBugs : public ::testing::TestWithParam<Bug> {};

TEST_P(PlantedBugs, AreCaught) {
    for (std::uint64_t seed = 1; seed <= kSeedsMax; ++seed) {
        const Outcome outcome = run({.seed = seed, .bug = GetParam()});
        if (outcome.violations.empty()) continue;
        // The same world without the bug is sound, so it is the bug that was caught.
        EXPECT_TRUE(run({.seed = seed}).violations.empty()) << "seed " << seed;
        const Violation& violation = outcome.violations.front();
        std::cout << to_string(GetParam()) << " caught by seed " << seed << ": "
                  << to_string(violation.promise) << ": " << violation.text << std::endl;
        return;
    }
    FAIL() << to_string(GetParam()) << " was not caught within " << kSeedsMax << " seeds";
}

std::vector<Bug> all_bugs() {
    std::vector<Bug> bugs;
    for (std::size_t i = 1; i < kBugs; ++i) bugs.push_back(static_cast<Bug>(i));
    return bugs;
}

INSTANTIATE_TEST_SUITE_P(, PlantedBugs, ::testing::ValuesIn(all_bugs()), [](const auto& bug) {
    return std::string(to_string(bug.param));
});

}  // namespace
}  // namespace outrider::simulation
