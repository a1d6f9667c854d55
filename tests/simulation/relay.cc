#include "simulation/relay.h"

#include <algorithm>

namespace outrider::simulation {

Ringer::Ringer(Process& process) : process_(process) {
    process.world().ringers.push_back(this);
}

Ringer::~Ringer() {
    std::erase(process_.world().ringers, this);
}

void Ringer::wait(MonoTime until) {
    if (process_.is_dead()) return;
    Scheduler& scheduler = process_.world().scheduler;
    if (!rung_) {
        sleeper_ = scheduler.current();
        scheduler.sleep_until(until);
        sleeper_.reset();
    }
    rung_ = false;
}

void Ringer::ring() {
    rung_ = true;
    // A frozen sleeper stays so; it finds the ring when it goes on.
    if (sleeper_ && !process_.is_frozen()) process_.world().scheduler.wake(*sleeper_);
}

struct Process::Post {
    Post(const Destination& destination_) : destination(destination_), circuit(destination) {}
    const Destination destination;
    Circuit circuit;
};

struct Process::Hand {
    Hand(Process& process, Post& post, std::size_t place)
        : store(process, place),
          broker(process, store.flight),
          ringer(process),
          dice(process.world().dice.next()),
          caution(post.destination, store, *process.world().clock),
          worker(
              {.destination = post.destination,
               .options = process.world().scenario.options,
               .store = store,
               .broker = broker,
               .circuit = post.circuit,
               .caution = caution,
               .handled = handled,
               .clock = *process.world().clock,
               .dice = dice,
               .observer = process.observer_,
               .waker = ringer}
          ) {}

    SimulatedStoreDriver store;
    SimulatedBrokerDriver broker;
    Ringer ringer;
    SeededDice dice;
    Caution caution;
    Handled handled;
    Worker worker;
};

Process::Process(World& world, std::size_t relay)
    : world_(world),
      relay_(relay),
      observer_(world, relay),
      keeper_store_(*this, 0),
      keeper_(keeper_store_, world.scenario.options, *world.clock, observer_),
      keeper_ringer_(*this) {
    for (std::size_t i = 0; i < world.scenario.places.size(); ++i) {
        Post& post = posts_.emplace_back(plant(world.bug, world.scenario.places[i].destination));
        keeper_.watch(post.destination, post.circuit);
        for (std::size_t k = 0; k < post.destination.workers; ++k) {
            hands_.emplace_back(*this, post, i);
        }
    }
}

Process::~Process() = default;

void Process::start() {
    world_.note("relay starts", relay_);
    for (Hand& hand : hands_) {
        fibres_.push_back(world_.scheduler.spawn([this, &hand] {
            hand.worker.run(stop_.get_token());
        }));
    }
    fibres_.push_back(world_.scheduler.spawn([this] { keep_house(); }));
}

void Process::keep_house() {
    while (!stop_.stop_requested()) keeper_ringer_.wait(keeper_.step());
}

void Process::stop() {
    world_.note("relay stops", relay_);
    stop_.request_stop();
    for (Hand& hand : hands_) hand.ringer.ring();
    keeper_ringer_.ring();
}

void Process::kill() {
    for (Hand& hand : hands_) {
        world_.record(FaultSort::crash, hand.store.flight.destination, hand.store.flight.accepted);
    }
    world_.note("relay dies", relay_);
    dead_ = true;
    stop_.request_stop();
    cut_late();
    for (const FibreNumber fibre : fibres_) world_.scheduler.wake(fibre);
}

// A server notices a dead client sooner or later.
void Process::cut_late() {
    for (const std::weak_ptr<Connection>& weak : connections_) {
        const std::shared_ptr<Connection> connection = weak.lock();
        if (!connection) continue;
        const Duration delay = world_.dice.chance(0.5) ? Duration(10) : world_.scenario.patience;
        world_.scheduler.at(world_.scheduler.now() + world_.up_to(delay), [connection] {
            connection->cut();
        });
    }
}

void Process::freeze(Duration duration) {
    const MonoTime now = world_.scheduler.now();
    world_.note("relay freezes", relay_);
    world_.count(FaultSort::freeze);
    frozen_until_ = now + duration;
    for (const FibreNumber fibre : fibres_) world_.scheduler.freeze(fibre, frozen_until_);
    if (duration <= world_.scenario.patience) return;
    world_.scheduler.at(now + world_.scenario.patience, [this] {
        if (is_frozen()) cut_connections();
    });
}

void Process::thaw() {
    frozen_until_ = MonoTime{};
    for (const FibreNumber fibre : fibres_) world_.scheduler.freeze(fibre, frozen_until_);
}

void Process::cut_connections() {
    for (const std::weak_ptr<Connection>& weak : connections_) {
        if (const std::shared_ptr<Connection> connection = weak.lock()) connection->cut();
    }
}

bool Process::is_frozen() const {
    return frozen_until_ > world_.scheduler.now();
}

bool Process::has_ended() const {
    return std::all_of(fibres_.begin(), fibres_.end(), [this](FibreNumber fibre) {
        return world_.scheduler.ended(fibre);
    });
}

void TracingObserver::claimed(
    const Destination& destination,
    std::span<const Envelope> envelopes,
    Duration took
) {
    if (envelopes.empty()) return;
    world_.note("claimed", relay_, envelopes.size(), static_cast<std::uint64_t>(took.count()));
    if (!world_.trace.keeps_lines()) return;
    std::string text = "  relay " + std::to_string(relay_) + " " + destination.name + ":";
    for (const Envelope& envelope : envelopes) {
        text += " " + std::to_string(world_.number_of(envelope.id)) + "@" +
                std::to_string(envelope.lane) + (envelope.parked ? "p" : "") +
                (envelope.blocked ? "b" : "") + (envelope.deliver_after ? "d" : "");
    }
    world_.trace.remark(world_.scheduler.now(), text);
}

void TracingObserver::published(
    const Destination& destination,
    std::span<const Envelope> envelopes,
    std::span<const Answer> answers,
    Duration took
) {
    std::uint64_t digits = 0;
    for (const Answer& answer : answers) {
        digits = digits * 5 + static_cast<std::uint64_t>(answer.verdict) + 1;
    }
    world_.note("published", relay_, digits, static_cast<std::uint64_t>(took.count()));
    if (!world_.trace.keeps_lines()) return;
    std::string text = "  relay " + std::to_string(relay_) + " " + destination.name + ":";
    for (std::size_t i = 0; i < envelopes.size(); ++i) {
        text += " " + std::to_string(world_.number_of(envelopes[i].id)) + "=" +
                std::string(to_string(answers[i].verdict));
    }
    world_.trace.remark(world_.scheduler.now(), text);
}

void TracingObserver::decided(
    const Destination& destination,
    std::span<const Envelope> envelopes,
    std::span<const Settlement> settlements
) {
    std::uint64_t digits = 0;
    for (const Settlement& settlement : settlements) {
        digits = digits * 5 + static_cast<std::uint64_t>(settlement.fate) + 1;
    }
    world_.note("decided", relay_, digits);
    if (!world_.trace.keeps_lines()) return;
    std::string text = "  relay " + std::to_string(relay_) + " " + destination.name + ":";
    for (std::size_t i = 0; i < settlements.size(); ++i) {
        text += " " + std::to_string(world_.number_of(envelopes[i].id)) + "=" +
                std::string(to_string(settlements[i].fate));
    }
    world_.trace.remark(world_.scheduler.now(), text);
}

void TracingObserver::settled(
    const Destination& /*destination*/,
    std::uint64_t messages,
    Duration took
) {
    world_.note("settled", relay_, messages, static_cast<std::uint64_t>(took.count()));
}

void TracingObserver::faulted(const Destination& /*destination*/, Stage stage, const Error& error) {
    world_.note("faulted", relay_, static_cast<std::uint64_t>(stage));
    world_.trace.remark(world_.scheduler.now(), "  " + error.text);
}

void TracingObserver::circuit_changed(
    const Destination& /*destination*/,
    CircuitState state,
    std::string_view /*reason*/
) {
    world_.note("circuit", relay_, static_cast<std::uint64_t>(state));
}

void TracingObserver::cleaned_up(std::uint64_t messages) {
    world_.note("cleaned up", relay_, messages);
}

}  // namespace outrider::simulation
