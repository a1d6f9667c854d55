#include "simulation/broker.h"

#include <algorithm>
#include <numeric>

#include "core/hash.h"
#include "simulation/relay.h"

namespace outrider::simulation {

Burst::Burst(World& world, std::size_t destination, std::span<const Envelope> envelopes)
    : world_(world),
      destination_(destination),
      sequence_(envelopes.size()) {
    const BrokerTraits& traits = world.scenario.places[destination].traits;
    keeps_order_ = traits.keeps_order || traits.keeps_order_keys;
    parcels_.reserve(envelopes.size());
    for (const Envelope& envelope : envelopes) {
        const OrderKey own = order_key(Order::key, envelope.topic, envelope.key, envelope.seq);
        chains_.push_back(traits.keeps_order_keys ? envelope.order_key : own);
        parcels_.push_back(
            {envelope.id,
             std::string(envelope.topic),
             std::string(envelope.key),
             digest_of(envelope)}
        );
    }
    std::iota(sequence_.begin(), sequence_.end(), std::size_t{0});
    for (std::size_t i = sequence_.size(); i > 1; --i) {
        std::swap(sequence_[i - 1], sequence_[world.dice.pick(i)]);
    }
    if (keeps_order_) put_keys_in_order();
}

// Keys overtake each other all the same: no broker promises anything across keys.
void Burst::put_keys_in_order() {
    std::map<OrderKey, std::vector<std::size_t>> keys;
    for (std::size_t place = chains_.size(); place > 0; --place) {
        keys[chains_[place - 1]].push_back(place - 1);
    }
    for (std::size_t& place : sequence_) {
        std::vector<std::size_t>& places = keys[chains_[place]];
        place = places.back();
        places.pop_back();
    }
}

void Burst::process(std::size_t count, std::span<Answer> answers) {
    for (; count > 0 && next_ < sequence_.size(); --count, ++next_) {
        const std::size_t place = sequence_[next_];
        const Verdict verdict = judge(place);
        if (verdict == Verdict::acknowledged) accepted_.push_back(parcels_[place].id);
        if (!answers.empty()) answers[place].verdict = verdict;
    }
}

// Behind a failure of its key an order-keeping broker takes nothing, whatever it has to say of it.
// This is no trouble of the message: nobody has looked at it.
Verdict Burst::judge(std::size_t number) {
    const Parcel& parcel = parcels_[number];
    const Place& place = world_.scenario.places[destination_];
    if (keeps_order_ && failed_keys_.contains(chains_[number])) {
        passed_over_.insert(number);
        const bool refuses = place.refuses_rest && !place.traits.keeps_order_keys;
        return refuses ? Verdict::refused : Verdict::unanswered;
    }
    const Verdict verdict = world_.receive(destination_, parcel);
    if (verdict != Verdict::acknowledged) failed_keys_.insert(chains_[number]);
    return verdict;
}

std::vector<MessageId> Burst::rest() const {
    std::vector<MessageId> ids;
    for (std::size_t i = next_; i < sequence_.size(); ++i) {
        ids.push_back(parcels_[sequence_[i]].id);
    }
    return ids;
}

const Place& SimulatedBroker::place() const {
    return process_.world().scenario.places[flight_.destination];
}

BrokerTraits SimulatedBroker::traits() const {
    return place().traits;
}

bool SimulatedBroker::is_away() const {
    const World& world = process_.world();
    const std::vector<bool>& away = world.broker_away;
    const bool any = std::find(away.begin(), away.end(), true) != away.end();
    return away[flight_.destination] || (any && world.bug == Bug::outage_stops_everybody);
}

// False: the relay is dead or its time is over, so it sends nothing more.
bool SimulatedBroker::pass_time(Duration at_most, Deadline deadline) {
    process_.step(at_most);
    return !process_.is_dead() && process_.world().scheduler.now() < deadline;
}

void SimulatedBroker::publish(
    std::span<const Envelope> envelopes,
    Deadline deadline,
    std::span<Answer> answers
) {
    World& world = process_.world();
    if (process_.is_dead()) return;
    if (!pass_time(place().latency_max, deadline)) return note_silence(envelopes);
    if (is_away()) {
        world.record(FaultSort::broker_outage, flight_.destination, {});
        pass_time(std::chrono::milliseconds(50), deadline);
        return note_silence(envelopes);
    }
    const auto burst = std::make_shared<Burst>(world, flight_.destination, envelopes);
    carry(burst, deadline, answers);
    flight_.accepted.insert(
        flight_.accepted.end(), burst->accepted().begin(), burst->accepted().end()
    );
    if (process_.is_dead()) {
        world.record(FaultSort::crash, flight_.destination, burst->accepted());
    }
    note_unanswered(envelopes, answers, *burst);
}

SimulatedBroker::Link SimulatedBroker::draw_link() {
    World& world = process_.world();
    const FaultRates& faults = world.scenario.faults;
    if (world.happens(faults.message_lost)) return Link::loses_messages;
    if (world.happens(faults.acknowledgement_lost)) return Link::loses_answers;
    if (world.happens(faults.late_publish)) return Link::is_late;
    return world.happens(faults.stall) ? Link::stalls : Link::sound;
}

// A part of the burst, some time, the rest of it: a crash or a broken link may come in between.
void SimulatedBroker::carry(
    std::shared_ptr<Burst> burst,
    Deadline deadline,
    std::span<Answer> answers
) {
    World& world = process_.world();
    const Link link = draw_link();
    burst->process(world.dice.pick(burst->size() + 1), answers);
    if (!pass_time(place().latency_max, deadline)) {
        // What a dead relay's socket had taken may still be under way.
        if (process_.is_dead() && world.dice.chance(0.3)) send_late(burst, deadline);
        return;
    }
    if (link != Link::sound) return break_link(link, burst, deadline);
    burst->process(burst->size(), answers);
    pass_time(place().latency_max, deadline);
}

void SimulatedBroker::break_link(
    Link link,
    const std::shared_ptr<Burst>& burst,
    Deadline deadline
) {
    World& world = process_.world();
    if (link == Link::loses_messages) {
        world.count(FaultSort::message_lost);
    } else if (link == Link::loses_answers) {
        burst->process(burst->size());
        world.count(FaultSort::acknowledgement_lost);
    } else if (link == Link::is_late) {
        send_late(burst, deadline);
    } else {
        world.count(FaultSort::stall);
        if (world.dice.chance(0.5)) burst->process(burst->size());
        world.scheduler.sleep_until(deadline);
    }
}

// The rest of the burst reaches the broker when nobody waits for it any more, yet in time.
void SimulatedBroker::send_late(const std::shared_ptr<Burst>& burst, Deadline deadline) {
    World& world = process_.world();
    world.record(FaultSort::late_publish, flight_.destination, burst->rest());
    const std::size_t count = world.dice.pick(burst->rest_size() + 1);
    world.scheduler.at(
        world.scheduler.now() +
            world.up_to(std::max(deadline - world.scheduler.now(), Duration::zero())),
        [burst, count] { burst->process(count); }
    );
}

void SimulatedBroker::note_silence(MessageId id, std::size_t offered) {
    const auto sort = offered == 1 ? Trouble::Sort::unanswered_alone : Trouble::Sort::unanswered;
    process_.world().history.troubles.push_back({flight_.destination, id, sort});
}

void SimulatedBroker::note_silence(std::span<const Envelope> envelopes) {
    for (const Envelope& envelope : envelopes) note_silence(envelope.id, envelopes.size());
}

void SimulatedBroker::note_unanswered(
    std::span<const Envelope> envelopes,
    std::span<const Answer> answers,
    const Burst& burst
) {
    World& world = process_.world();
    bool complete = true;
    for (std::size_t i = 0; i < envelopes.size(); ++i) {
        if (answers[i].verdict != Verdict::unanswered || burst.has_passed_over(i)) continue;
        complete = false;
        note_silence(envelopes[i].id, envelopes.size());
    }
    if (!complete) {
        world.record(FaultSort::acknowledgement_lost, flight_.destination, burst.accepted());
    }
}

Result<void> SimulatedBroker::ping(Deadline deadline) {
    if (!pass_time(place().latency_max, deadline) || is_away()) {
        return Error{Remedy::wait, "no broker"};
    }
    return {};
}

Result<std::unique_ptr<Broker>> SimulatedBrokerDriver::open() {
    return plant(process_.world().bug, std::make_unique<SimulatedBroker>(process_, flight_));
}

}  // namespace outrider::simulation
