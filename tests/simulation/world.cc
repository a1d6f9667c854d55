#include "simulation/world.h"

#include <algorithm>

#include "simulation/relay.h"

namespace outrider::simulation {
namespace {

// Of a healthy key beside bad ones, and of a healthy destination beside a dead one.
constexpr Duration kLagMax = std::chrono::seconds(2);

std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

std::uint64_t fold(std::uint64_t hash, std::string_view text) {
    for (const char letter : text) {
        hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
    }
    return (hash ^ text.size()) * 0x100000001b3U;
}

void put(std::array<std::uint8_t, 16>& bytes, std::size_t at, std::uint64_t value) {
    for (std::size_t i = 0; i < 8; ++i) {
        bytes[at + i] = static_cast<std::uint8_t>(value >> (56 - 8 * i));
    }
}

}  // namespace

void WorldClock::jump(Duration by) {
    offset_ += by;
    offset_max_ = std::max(offset_max_, offset_);
}

World::World(Scenario scenario_, Bug bug_, bool keeps_lines)
    : scenario(std::move(scenario_)),
      bug(bug_),
      scheduler(mix(scenario.seed) + 1),
      dice(mix(scenario.seed) + 2),
      trace(keeps_lines),
      clock(std::make_shared<WorldClock>(scheduler)),
      database(std::make_shared<MemoryDatabase>(
          MemoryDatabase::Options{
              .lanes = scenario.lanes,
              .lanes_per_claim = scenario.lanes_per_claim},
          clock
      )),
      broker_away(scenario.places.size(), false),
      refusals_(scenario.places.size()),
      arrived_(scenario.places.size()) {
    for (const Place& place : scenario.places) history.destinations.push_back(rules_of(place));
    if (!scenario.judges_isolation) return;
    // The first place has the outages.
    for (std::size_t i = 1; i < scenario.places.size(); ++i) {
        Rules& rules = history.destinations[i];
        if (rules.order != Order::global) rules.lag_max = kLagMax;
    }
}

void World::step(Duration at_most) {
    // Never nothing, so that a loop of calls always gets somewhere.
    scheduler.sleep(Duration(20) + up_to(at_most));
}

Duration World::up_to(Duration most) {
    return Duration(
        static_cast<Duration::rep>(dice.pick(static_cast<std::uint64_t>(most.count()) + 1))
    );
}

void World::pass_turn(std::size_t relay) {
    if (ambush_.steps == 0 || --ambush_.steps > 0) return;
    ambush_.relay = relay;
    scheduler.wake(ambush_.waiting);
}

std::optional<std::size_t> World::lie_in_wait(std::uint64_t steps, Duration at_most) {
    ambush_ = {steps, scheduler.current(), std::nullopt};
    scheduler.sleep(at_most);
    ambush_.steps = 0;
    return ambush_.relay;
}

void World::record(FaultSort sort, std::size_t destination, std::vector<MessageId> in_flight) {
    count(sort);
    note(to_string(sort), destination, in_flight.size());
    history.incidents.push_back({sort, destination, std::move(in_flight)});
}

void World::commit(std::vector<Message> messages) {
    database->commit(std::move(messages));
    ring_all();
}

void World::ring_all() {
    for (Ringer* ringer : ringers) {
        if (happens(scenario.faults.ring_lost)) {
            count(FaultSort::ring_lost);
        } else {
            ringer->ring();
        }
    }
}

MessageId World::id_of(std::size_t number) const {
    std::array<std::uint8_t, 16> bytes{};
    put(bytes, 0, mix(scenario.seed));
    put(bytes, 8, number + 1);
    return MessageId(bytes);
}

std::size_t World::number_of(const MessageId& id) const {
    std::uint64_t number = 0;
    for (std::size_t i = 8; i < 16; ++i) number = number << 8U | id.bytes()[i];
    return number - 1;
}

World::Sickness World::sickness(std::size_t destination, std::size_t number) const {
    const Place& place = scenario.places[destination];
    // Not drawn but derived, so that it does not depend on who asks first.
    SeededDice fate(mix(scenario.seed * 31 + destination) + number);
    double roll = fate.roll();
    if (roll < place.poison) return Sickness::poison;
    roll -= place.poison;
    if (roll < place.incurable) return Sickness::incurable;
    roll -= place.incurable;
    return roll < place.unacceptable ? Sickness::unacceptable : Sickness::none;
}

bool World::is_incurable(std::size_t destination, std::size_t number) const {
    const std::size_t limit = history.destinations[destination].payload_bytes_max;
    if (limit != 0 && history.written[number].payload_bytes > limit) return true;
    const Sickness sick = sickness(destination, number);
    return sick == Sickness::incurable || sick == Sickness::unacceptable;
}

Verdict World::receive(std::size_t destination, const Parcel& parcel) {
    const std::size_t number = number_of(parcel.id);
    const Sickness sick = sickness(destination, number);
    if (sick == Sickness::unacceptable) {
        return refuse(destination, parcel, Trouble::Sort::unacceptable);
    }
    if (sick == Sickness::incurable) return refuse(destination, parcel, Trouble::Sort::refused);
    if (sick == Sickness::poison &&
        refusals_[destination][number] < 1 + static_cast<int>(number % 3)) {
        ++refusals_[destination][number];
        return refuse(destination, parcel, Trouble::Sort::refused);
    }
    note("arrived", destination, number);
    auto& arrived = arrived_[destination];
    if (arrived.size() <= number) arrived.resize(number + 1, false);
    arrived[number] = true;
    history.arrivals.push_back(
        {destination,
         parcel.id,
         parcel.topic,
         parcel.key,
         parcel.digest,
         clock->wall(),
         scheduler.now()}
    );
    return Verdict::acknowledged;
}

Verdict World::refuse(std::size_t destination, const Parcel& parcel, Trouble::Sort sort) {
    const bool never = sort == Trouble::Sort::unacceptable;
    count(never ? FaultSort::unacceptable : FaultSort::refusal);
    note("refused", destination, number_of(parcel.id), never ? 1 : 0);
    history.troubles.push_back({destination, parcel.id, sort});
    return never ? Verdict::unacceptable : Verdict::refused;
}

std::size_t World::missing() const {
    std::set<std::pair<std::size_t, std::size_t>> resting;
    for (const Death& death : history.deaths) {
        const std::size_t number = number_of(death.id);
        if (!is_incurable(death.destination, number)) continue;
        if (death.step == Death::Step::replayed) {
            resting.erase({death.destination, number});
        } else {
            resting.insert({death.destination, number});
        }
    }
    std::size_t count = 0;
    for (std::size_t d = 0; d < scenario.places.size(); ++d) {
        const std::vector<std::string>& takes = scenario.places[d].takes;
        for (std::size_t i = 0; i < history.written.size(); ++i) {
            const Written& written = history.written[i];
            if (written.committed == 0) continue;
            if (std::find(takes.begin(), takes.end(), written.topic) == takes.end()) continue;
            if (i < arrived_[d].size() && arrived_[d][i]) continue;
            if (!resting.contains({d, i})) ++count;
        }
    }
    return count;
}

std::uint64_t digest_of(const Message& message) {
    std::uint64_t hash = fold(0xcbf29ce484222325U, message.payload);
    hash = fold(fold(hash, message.type), message.content_type);
    for (const Header& header : message.headers) hash = fold(fold(hash, header.name), header.value);
    return hash;
}

std::uint64_t digest_of(const Envelope& envelope) {
    std::uint64_t hash = fold(0xcbf29ce484222325U, envelope.payload);
    hash = fold(fold(hash, envelope.type), envelope.content_type);
    for (const HeaderView& header : envelope.headers) {
        hash = fold(fold(hash, header.name), header.value);
    }
    return hash;
}

std::string_view to_string(FaultSort sort) {
    constexpr std::string_view kNames[] = {
        "crash",
        "freeze",
        "restart",
        "store outage",
        "store restart",
        "claim failed",
        "claim reply lost",
        "claim lost",
        "settle failed",
        "settle reply lost",
        "settle late",
        "broker outage",
        "message lost",
        "acknowledgement lost",
        "late publish",
        "stall",
        "refusal",
        "unacceptable",
        "clock jump",
        "ring lost",
        "pause",
        "replay",
    };
    static_assert(std::size(kNames) == kFaultSorts);
    return kNames[static_cast<std::size_t>(sort)];
}

}  // namespace outrider::simulation
