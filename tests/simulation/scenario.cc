#include "simulation/scenario.h"

#include <algorithm>

namespace outrider::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Draws of the sorts that scenarios are made of.
class Draw {
public:
    explicit Draw(std::uint64_t seed) : dice_(seed) {}

    bool coin(double probability = 0.5) { return dice_.chance(probability); }

    std::size_t between(std::size_t low, std::size_t high) {
        return low + dice_.pick(high - low + 1);
    }

    Duration between(Duration low, Duration high) {
        const auto span = static_cast<std::uint64_t>((high - low).count()) + 1;
        return low + Duration(static_cast<Duration::rep>(dice_.pick(span)));
    }

    // Zero as often as not: a run with few sorts of trouble finds what one with all of them hides.
    double perhaps(double most) { return coin() ? dice_.roll() * most : 0; }

private:
    SeededDice dice_;
};

BatchLimits draw_batch(Draw& draw) {
    constexpr std::size_t kSizes[] = {1, 2, 3, 10, 50, 200};
    BatchLimits batch;
    batch.messages = kSizes[draw.between(0, 5)];
    if (draw.coin(0.2)) batch.bytes = draw.between(1, 500);
    return batch;
}

Retry draw_retry(Draw& draw) {
    Retry retry;
    retry.attempts_max = static_cast<std::uint32_t>(draw.between(1, 5));
    if (draw.coin(0.1)) retry.age_max = draw.between(milliseconds(1), seconds(2));
    retry.delay_first = draw.between(milliseconds(1), milliseconds(300));
    retry.delay_max = retry.delay_first * static_cast<int>(draw.between(1, 4));
    retry.jitter = draw.coin() ? 0.2 : 1.0;
    return retry;
}

Destination draw_destination(Draw& draw, std::size_t number) {
    Destination destination;
    destination.name = std::string("place-") + static_cast<char>('a' + number);
    if (draw.coin(0.3)) destination.order = draw.coin() ? Order::none : Order::global;
    if (draw.coin(0.25)) destination.on_failure = OnFailure::skip;
    if (draw.coin(0.3)) destination.after_death = AfterDeath::hold;
    destination.retry = draw_retry(draw);
    destination.batch = draw_batch(draw);
    destination.publish_deadline = draw.between(milliseconds(100), seconds(5));
    destination.outage_delay_first = draw.between(milliseconds(1), milliseconds(250));
    destination.outage_delay_max = destination.outage_delay_first * 4;
    destination.workers = draw.between(1, 3);
    return destination;
}

void draw_topics(Draw& draw, Place& place) {
    switch (draw.between(0, 3)) {
        case 0:
            place.destination.topics = {"orders.*"};
            place.takes = {kTopics[0], kTopics[1]};
            return;
        case 1:
            place.destination.topics = {"*.paid", "b*s"};
            place.takes = {kTopics[1], kTopics[2]};
            return;
        default:
            place.takes = {kTopics[0], kTopics[1], kTopics[2]};
    }
}

Place draw_place(Draw& draw, std::size_t number) {
    Place place;
    place.destination = draw_destination(draw, number);
    draw_topics(draw, place);
    place.traits.keeps_order = draw.coin();
    place.traits.keeps_order_keys = !place.traits.keeps_order && draw.coin();
    if (draw.coin(0.3)) place.traits.burst_max = draw.between(1, 5);
    if (draw.coin(0.2)) place.traits.payload_bytes_max = draw.between(20, 60);
    if (draw.coin(0.1)) place.destination.payload_bytes_max = draw.between(20, 60);
    place.latency_max = draw.between(Duration(100), milliseconds(5));
    place.poison = draw.perhaps(0.1);
    place.incurable = draw.coin(0.3) ? draw.perhaps(0.05) : 0;
    place.unacceptable = draw.coin(0.3) ? draw.perhaps(0.05) : 0;
    place.refuses_rest = draw.coin(0.7);
    return place;
}

FaultRates draw_faults(Draw& draw) {
    FaultRates rates;
    rates.claim_failed = draw.perhaps(0.05);
    rates.claim_reply_lost = draw.perhaps(0.05);
    rates.settle_failed = draw.perhaps(0.1);
    rates.settle_reply_lost = draw.perhaps(0.1);
    rates.settle_late = draw.perhaps(0.1);
    rates.message_lost = draw.perhaps(0.1);
    rates.acknowledgement_lost = draw.perhaps(0.1);
    rates.late_publish = draw.perhaps(0.1);
    rates.stall = draw.perhaps(0.02);
    rates.ring_lost = draw.perhaps(0.3);
    constexpr FaultSort kStrikes[] = {
        FaultSort::crash,
        FaultSort::crash,
        FaultSort::freeze,
        FaultSort::restart,
        FaultSort::store_outage,
        FaultSort::store_restart,
        FaultSort::broker_outage,
        FaultSort::clock_jump,
        FaultSort::pause,
        FaultSort::replay,
    };
    for (const FaultSort sort : kStrikes) {
        if (draw.coin()) rates.strikes.push_back(sort);
    }
    rates.strike_pause = draw.between(milliseconds(20), seconds(1));
    return rates;
}

// Nothing but orderly restarts: whatever repeats here is a mistake.
FaultRates no_faults(Draw& draw) {
    FaultRates rates;
    if (draw.coin()) rates.strikes = {FaultSort::restart};
    if (draw.coin()) rates.strikes.push_back(FaultSort::pause);
    rates.strike_pause = draw.between(milliseconds(20), seconds(1));
    return rates;
}

RelayOptions draw_options(Draw& draw) {
    RelayOptions options;
    options.retention = draw.coin() ? Duration::zero() : draw.between(seconds(1), seconds(3600));
    options.idle_poll = draw.between(milliseconds(50), seconds(1));
    options.standby_poll = draw.between(milliseconds(20), milliseconds(500));
    options.reconnect_delay_first = draw.between(milliseconds(5), milliseconds(100));
    options.reconnect_delay_max = options.reconnect_delay_first * 4;
    return options;
}

void draw_workload(Draw& draw, Scenario& scenario) {
    scenario.producers = draw.between(1, 6);
    scenario.transactions = draw.between(4, 20);
    scenario.messages_max = draw.between(1, 8);
    scenario.keys = draw.between(1, 12);
    scenario.keyless = draw.perhaps(0.3);
    scenario.rolled_back = draw.perhaps(0.3);
    scenario.deferred = draw.coin(0.4) ? draw.perhaps(0.1) : 0;
    scenario.payload_bytes_max = draw.between(0, 64);
    scenario.write_pause = draw.between(milliseconds(1), milliseconds(600));
}

// Where waits are measured, nothing but bad messages and bad brokers may cause them.
void judge_isolation(Draw& draw, Scenario& scenario) {
    scenario.judges_isolation = true;
    scenario.lanes_per_claim = 0;
    scenario.store_latency_max = milliseconds(1);
    scenario.faults.strikes = {FaultSort::broker_outage};
    scenario.faults.strike_pause = draw.between(milliseconds(20), seconds(1));
    for (Place& place : scenario.places) {
        place.destination.batch = {200, 1U << 20U};
        place.traits.burst_max = 0;
        place.latency_max = milliseconds(1);
    }
}

}  // namespace

Scenario draw_scenario(std::uint64_t seed) {
    // Twice, since neighbouring seeds of one stream are that stream shifted by one.
    Draw draw(SeededDice(SeededDice(seed).next()).next());
    Scenario scenario;
    scenario.seed = seed;
    scenario.relays = draw.between(1, 4);
    scenario.lanes = draw.between(1, 8);
    scenario.lanes_per_claim = draw.coin() ? 0 : draw.between(1, scenario.lanes);
    scenario.options = draw_options(draw);
    const std::size_t places = draw.between(1, 3);
    for (std::size_t i = 0; i < places; ++i) scenario.places.push_back(draw_place(draw, i));
    scenario.store_latency_max = draw.between(Duration(100), milliseconds(5));
    draw_workload(draw, scenario);
    if (draw.coin(0.08)) {
        judge_isolation(draw, scenario);
    } else {
        scenario.faults = draw.coin(0.1) ? no_faults(draw) : draw_faults(draw);
    }
    for (const Place& place : scenario.places) {
        scenario.patience = std::max(scenario.patience, place.destination.publish_deadline);
    }
    scenario.patience += milliseconds(100);
    return scenario;
}

Rules rules_of(const Place& place) {
    const Destination& destination = place.destination;
    Rules rules;
    rules.name = destination.name;
    rules.takes = place.takes;
    rules.order = destination.order;
    rules.on_failure = destination.on_failure;
    rules.after_death = destination.after_death;
    rules.attempts_max = destination.retry.attempts_max;
    rules.dies_of_age = destination.retry.age_max > Duration::zero();
    const std::size_t limits[] = {destination.payload_bytes_max, place.traits.payload_bytes_max};
    for (const std::size_t limit : limits) {
        if (limit == 0) continue;
        rules.payload_bytes_max =
            rules.payload_bytes_max == 0 ? limit : std::min(rules.payload_bytes_max, limit);
    }
    return rules;
}

}  // namespace outrider::simulation
