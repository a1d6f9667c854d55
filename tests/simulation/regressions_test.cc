#include <gtest/gtest.h>

#include "simulation/director.h"

// Mistakes that the simulation has found in the real loop, each in the smallest world that shows
// it, so that they stay found whatever the seeds draw one day.

namespace outrider::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t kSeeds = 100;

// One relay, one lane, one destination, no faults; a backlog of a few keys.
Scenario small_scenario() {
    Scenario scenario;
    Place place;
    place.destination.name = "place";
    place.destination.retry.delay_first = milliseconds(10);
    place.destination.retry.delay_max = milliseconds(20);
    place.takes = {kTopics[0], kTopics[1], kTopics[2]};
    place.refuses_rest = true;
    scenario.places = {place};
    scenario.producers = 3;
    scenario.transactions = 10;
    scenario.messages_max = 8;
    scenario.keys = 2;
    scenario.payload_bytes_max = 64;
    scenario.faults.strike_pause = milliseconds(50);
    scenario.patience = seconds(31);
    return scenario;
}

void expect_promises_kept(const Scenario& scenario) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const Outcome outcome = run({.seed = seed, .scenario = scenario});
        ASSERT_TRUE(outcome.violations.empty())
            << "seed " << seed << ": " << to_string(outcome.violations.front().promise) << ": "
            << outcome.violations.front().text;
    }
}

TEST(Regressions, SmallWorldIsSound) {
    expect_promises_kept(small_scenario());
}

// A broker keeps order within a burst. A key that failed in one burst of a wave went on in the
// next.
TEST(Regressions, KeepsOrderWhereAWaveIsCutIntoBursts) {
    Scenario scenario = small_scenario();
    scenario.places[0].traits = {.keeps_order = true, .burst_max = 2};
    scenario.places[0].poison = 0.1;
    expect_promises_kept(scenario);
}

// A broker keeps order per key. Global order was left to it as if it did so across keys.
TEST(Regressions, KeepsGlobalOrderWithABrokerThatKeepsOrderPerKey) {
    Scenario scenario = small_scenario();
    scenario.places[0].destination.order = Order::global;
    scenario.places[0].traits.keeps_order = true;
    expect_promises_kept(scenario);
}

// A turn cut short by its deadline parked each open message on its own, so the key fell apart
// though nobody had refused anything.
TEST(Regressions, KeepsOrderUnderSkipWhereATurnIsCutShort) {
    Scenario scenario = small_scenario();
    scenario.places[0].destination.on_failure = OnFailure::skip;
    scenario.places[0].destination.publish_deadline = milliseconds(20);
    scenario.places[0].traits.burst_max = 1;
    expect_promises_kept(scenario);
}

// A replayed dead letter came back under its key and held it back for a moment, in which others of
// the key stepped aside and were passed.
TEST(Regressions, KeepsOrderUnderSkipBesideAReplay) {
    Scenario scenario = small_scenario();
    scenario.places[0].destination.on_failure = OnFailure::skip;
    scenario.places[0].destination.batch.messages = 1;
    scenario.places[0].destination.payload_bytes_max = 50;
    scenario.faults.strikes = {FaultSort::replay};
    expect_promises_kept(scenario);
}

// A key went on behind a message that was refused for the last time. When the settle was lost, that
// message was alive again, and late.
TEST(Regressions, DoesNotPassTheDyingBeforeTheyAreDead) {
    Scenario scenario = small_scenario();
    scenario.places[0].destination.retry.attempts_max = 1;
    scenario.places[0].poison = 0.1;
    scenario.faults.settle_failed = 0.3;
    expect_promises_kept(scenario);
}

// An order-keeping broker refuses the rest of a key behind a refusal. The rest was charged for it,
// and died of it.
TEST(Regressions, ChargesNobodyForTheMessageBeforeIt) {
    Scenario scenario = small_scenario();
    scenario.places[0].destination.retry.attempts_max = 2;
    scenario.places[0].traits.keeps_order = true;
    scenario.places[0].refuses_rest = true;
    scenario.places[0].poison = 0.1;
    expect_promises_kept(scenario);
}

// Or it says nothing of the rest. That was taken for an outage, and other keys waited.
TEST(Regressions, TakesNoRefusalForAnOutage) {
    Scenario scenario = small_scenario();
    scenario.judges_isolation = true;
    scenario.keys = 20;
    scenario.places.push_back(scenario.places[0]);
    scenario.places[1].destination.name = "other";
    scenario.places[1].destination.outage_delay_first = seconds(5);
    scenario.places[1].traits.keeps_order = true;
    scenario.places[1].refuses_rest = false;
    scenario.places[1].poison = 0.05;
    expect_promises_kept(scenario);
}

}  // namespace
}  // namespace outrider::simulation
