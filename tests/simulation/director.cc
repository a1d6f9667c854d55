#include "simulation/director.h"

#include <algorithm>
#include <memory>

#include "simulation/people.h"
#include "simulation/relay.h"
#include "simulation/world.h"

namespace outrider::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Generous: thousands of waits of a second, one behind the other.
constexpr Duration kDrainTime = std::chrono::hours(1);
constexpr Duration kDrainLook = milliseconds(200);
constexpr Duration kQuietTime = seconds(2);
constexpr Duration kStopTime = seconds(60);

class Director {
public:
    explicit Director(World& world)
        : world_(world),
          producers_(world),
          operator_(world),
          relays_(world.scenario.relays) {}

    void direct() {
        world_.scheduler.spawn([this] { play(); });
        world_.scheduler.run();
    }

private:
    void play() {
        // Every destination is known before the first message, so that none may miss any.
        for (const Place& place : world_.scenario.places) {
            const auto opened = world_.database->open(plant(world_.bug, place.destination));
            OUTRIDER_ASSERT(opened.has_value());
        }
        for (std::size_t i = 0; i < relays_.size(); ++i) start(i);
        producers_.start();
        while (!producers_.have_ended()) strike();
        for (int i = 0; i < 3; ++i) strike();
        heal();
        drain();
        world_.scheduler.sleep(kQuietTime);
        end();
    }

    void start(std::size_t relay) {
        processes_.push_back(std::make_unique<Process>(world_, relay));
        relays_[relay] = processes_.back().get();
        relays_[relay]->start();
    }

    // After a pause; half of the time whoever is in the middle of a turn then.
    std::size_t choose_victim(Duration pause) {
        const std::size_t anybody = world_.dice.pick(relays_.size());
        const std::uint64_t steps = 1 + world_.dice.pick(50);
        if (world_.dice.chance(0.5)) return world_.lie_in_wait(steps, pause).value_or(anybody);
        world_.step(pause);
        return anybody;
    }

    // One larger fault, or an orderly change, and a pause.
    void strike() {
        const FaultRates& faults = world_.scenario.faults;
        const std::size_t relay = choose_victim(faults.strike_pause);
        if (faults.strikes.empty()) return;
        const std::size_t place =
            world_.scenario.judges_isolation ? 0 : world_.dice.pick(world_.scenario.places.size());
        switch (faults.strikes[world_.dice.pick(faults.strikes.size())]) {
            case FaultSort::crash:
                return crash(relay);
            case FaultSort::freeze:
                return freeze(relay);
            case FaultSort::restart:
                return restart(relay);
            case FaultSort::store_outage:
                return take_store_away(false);
            case FaultSort::store_restart:
                return take_store_away(true);
            case FaultSort::broker_outage:
                return take_broker_away(place);
            case FaultSort::clock_jump:
                return jump();
            case FaultSort::pause:
                return pause(place);
            default:
                return operator_.replay_some();
        }
    }

    // Brings a relay back after a while, unless healing did so before.
    void start_later(std::size_t relay) {
        relays_[relay] = nullptr;
        world_.scheduler.at(world_.scheduler.now() + world_.up_to(seconds(2)), [this, relay] {
            if (relays_[relay] == nullptr && !ending_) start(relay);
        });
    }

    void crash(std::size_t relay) {
        if (relays_[relay] == nullptr) return;
        relays_[relay]->kill();
        start_later(relay);
    }

    void freeze(std::size_t relay) {
        if (relays_[relay] == nullptr || relays_[relay]->is_frozen()) return;
        relays_[relay]->freeze(world_.up_to(world_.scenario.patience * 2));
    }

    void restart(std::size_t relay) {
        if (relays_[relay] == nullptr || relays_[relay]->is_frozen()) return;
        world_.count(FaultSort::restart);
        relays_[relay]->stop();
        start_later(relay);
    }

    void take_store_away(bool restarts) {
        if (world_.store_away) return;
        world_.count(restarts ? FaultSort::store_restart : FaultSort::store_outage);
        world_.note("store away", restarts ? 1 : 0);
        world_.store_away = true;
        for (const auto& process : processes_) {
            if (restarts) process->cut_connections();
        }
        world_.scheduler.at(world_.scheduler.now() + world_.up_to(seconds(1)), [this] {
            world_.store_away = false;
        });
    }

    void take_broker_away(std::size_t place) {
        world_.note("broker away", place);
        world_.broker_away[place] = true;
        world_.scheduler.at(world_.scheduler.now() + world_.up_to(seconds(1)), [this, place] {
            world_.broker_away[place] = false;
        });
    }

    void jump() {
        constexpr Duration kJumps[] = {
            seconds(1), seconds(60), std::chrono::hours(24), std::chrono::hours(24 * 700)};
        const Duration most = kJumps[world_.dice.pick(std::size(kJumps))];
        const Duration by = world_.up_to(most);
        const bool back = world_.dice.chance(0.5);
        world_.clock->jump(back ? -by : by);
        world_.history.clock_jumped = true;
        world_.count(FaultSort::clock_jump);
        world_.note("clock jump", static_cast<std::uint64_t>(by.count()), back ? 1 : 0);
    }

    void pause(std::size_t place) {
        world_.count(FaultSort::pause);
        operator_.pause(place, true);
        world_.scheduler.at(world_.scheduler.now() + world_.up_to(seconds(1)), [this, place] {
            operator_.pause(place, false);
        });
    }

    void heal() {
        world_.note("heal");
        world_.calm = true;
        world_.store_away = false;
        world_.broker_away.assign(world_.broker_away.size(), false);
        world_.clock->catch_up();
        for (std::size_t i = 0; i < relays_.size(); ++i) {
            if (relays_[i] == nullptr) {
                start(i);
            } else {
                relays_[i]->thaw();
            }
        }
        for (std::size_t i = 0; i < world_.scenario.places.size(); ++i) operator_.pause(i, false);
    }

    void drain() {
        const MonoTime end = world_.scheduler.now() + kDrainTime;
        while (world_.scheduler.now() < end) {
            operator_.tend();
            if (world_.missing() == 0) return;
            world_.scheduler.sleep(kDrainLook);
        }
        world_.note("not drained", world_.missing());
    }

    void end() {
        ending_ = true;
        for (Process* relay : relays_) relay->stop();
        const MonoTime end = world_.scheduler.now() + kStopTime;
        const auto have_ended = [this] {
            return std::all_of(processes_.begin(), processes_.end(), [](const auto& process) {
                return process->has_ended();
            });
        };
        while (!have_ended() && world_.scheduler.now() < end) world_.scheduler.sleep(kDrainLook);
        OUTRIDER_ASSERT(have_ended());
        operator_.take_stock();
    }

    World& world_;
    Producers producers_;
    Operator operator_;
    std::vector<Process*> relays_;                     // the living ones; null: about to come back
    std::vector<std::unique_ptr<Process>> processes_;  // all lives, since the dead unwind slowly
    bool ending_ = false;
};

}  // namespace

Outcome run(const RunOptions& options) {
    Outcome outcome;
    Scenario scenario = options.scenario ? *options.scenario : draw_scenario(options.seed);
    scenario.seed = options.seed;
    World world(std::move(scenario), options.bug, options.keeps_lines);
    Director(world).direct();
    outcome.seed = options.seed;
    outcome.violations = check(world.history);
    outcome.hash = world.trace.hash();
    outcome.history = std::move(world.history);
    outcome.tally = world.tally;
    outcome.took = world.scheduler.now().time_since_epoch();
    outcome.lines = world.trace.lines();
    return outcome;
}

}  // namespace outrider::simulation
