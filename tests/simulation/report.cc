#include "simulation/report.h"

#include <algorithm>

#include "simulation/scenario.h"
#include "support/environment.h"

namespace outrider::simulation {
namespace {

constexpr std::size_t kViolationsShown = 5;

// The whole story of a long run is thousands of lines, so only its end unless asked for more.
std::size_t tail_lines() {
    return number_from("TRACE_LINES", 60);
}

std::string describe(const Place& place) {
    const Destination& destination = place.destination;
    std::string text = "  " + destination.name + ": order " +
                       std::string(to_string(destination.order)) + ", " +
                       std::string(to_string(destination.on_failure)) + ", " +
                       std::string(to_string(destination.after_death)) + ", batch " +
                       std::to_string(destination.batch.messages) + ", workers " +
                       std::to_string(destination.workers);
    if (place.traits.keeps_order) text += ", broker keeps order";
    if (place.traits.keeps_order_keys) text += ", broker keeps order keys";
    return text + ", burst " + std::to_string(place.traits.burst_max) + "\n";
}

}  // namespace

void Summary::add(const Outcome& outcome) {
    ++seeds_;
    messages_ += outcome.history.written.size();
    arrivals_ += outcome.history.arrivals.size();
    took_ += outcome.took;
    hash_ = hash_ * 31 + outcome.hash;
    for (std::size_t i = 0; i < kFaultSorts; ++i) tally_[i] += outcome.tally[i];
}

std::string Summary::text() const {
    const auto hours = std::chrono::duration_cast<std::chrono::hours>(took_);
    std::string text = std::to_string(seeds_) + " seeds, " + std::to_string(messages_) +
                       " messages written, " + std::to_string(arrivals_) + " arrived, " +
                       std::to_string(hours.count()) + " hours of virtual time; faults:";
    for (std::size_t i = 0; i < kFaultSorts; ++i) {
        text += (i == 0 ? " " : ", ") + std::string(to_string(static_cast<FaultSort>(i))) + " " +
                std::to_string(tally_[i]);
    }
    return text + "; hash of all " + std::to_string(hash_);
}

std::string describe(const Outcome& outcome) {
    std::string text = "seed " + std::to_string(outcome.seed) + " breaks " +
                       std::to_string(outcome.violations.size()) + " promises:\n";
    for (std::size_t i = 0; i < std::min(kViolationsShown, outcome.violations.size()); ++i) {
        const Violation& violation = outcome.violations[i];
        text += "  " + std::string(to_string(violation.promise)) + ": " + violation.text + "\n";
    }
    const Scenario scenario = draw_scenario(outcome.seed);
    text += std::to_string(scenario.relays) + " relays, " + std::to_string(scenario.lanes) +
            " lanes, " + std::to_string(scenario.lanes_per_claim) + " per claim\n";
    for (const Place& place : scenario.places) text += describe(place);
    text += "see it again with: FIRST_SEED=" + std::to_string(outcome.seed) +
            " SEEDS=1 simulation_test --gtest_filter='Simulation.*'\nthe end of the trace:\n";
    const Outcome again = run({.seed = outcome.seed, .keeps_lines = true});
    const std::size_t count = again.lines.size();
    for (std::size_t i = count - std::min(count, tail_lines()); i < count; ++i) {
        text += "  " + again.lines[i] + "\n";
    }
    return text;
}

}  // namespace outrider::simulation
