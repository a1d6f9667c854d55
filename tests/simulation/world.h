#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "simulation/bugs.h"
#include "simulation/history.h"
#include "simulation/scenario.h"
#include "simulation/scheduler.h"
#include "simulation/trace.h"
#include "stores/memory/database.h"

namespace outrider::simulation {

class Process;
class Ringer;

// The virtual clock as the code under test sees it. Its wall may be moved.
class WorldClock final : public Clock {
public:
    explicit WorldClock(const Scheduler& scheduler) : scheduler_(scheduler) {}

    [[nodiscard]] MonoTime now() override { return scheduler_.now(); }
    [[nodiscard]] WallTime wall() override { return wall_at(scheduler_.now()); }

    void jump(Duration by);

    // As late as it has ever been, so that nothing stays due in years that will never come.
    void catch_up() { offset_ = offset_max_; }

private:
    [[nodiscard]] WallTime wall_at(MonoTime now) const {
        return WallTime(std::chrono::hours(24 * 365 * 50)) + now.time_since_epoch() + offset_;
    }

    const Scheduler& scheduler_;
    Duration offset_ = Duration::zero();
    Duration offset_max_ = Duration::zero();
};

// A message as it travels behind a broker's door.
struct Parcel {
    MessageId id;
    std::string topic;
    std::string key;
    std::uint64_t digest = 0;
};

// What all parts of a simulated world share: time, chance, the database, the evidence. The parts
// change it freely; there is only one thread.
class World {
public:
    World(Scenario scenario, Bug bug, bool keeps_lines);

    // A little virtual time passes, and others run.
    void step(Duration at_most);

    // A relay is in the middle of a turn.
    void pass_turn(std::size_t relay);

    // Sleeps until relays have passed that many steps of turns; returns whose step was the last.
    // Nothing: the time was over before.
    std::optional<std::size_t> lie_in_wait(std::uint64_t steps, Duration at_most);

    [[nodiscard]] bool happens(double probability) { return !calm && dice.chance(probability); }
    [[nodiscard]] Duration up_to(Duration most);

    void count(FaultSort sort) { ++tally[static_cast<std::size_t>(sort)]; }

    // A fault has struck what was in flight.
    void record(FaultSort sort, std::size_t destination, std::vector<MessageId> in_flight);

    // Makes a transaction's messages visible and wakes whoever sleeps.
    void commit(std::vector<Message> messages);
    void ring_all();

    [[nodiscard]] MessageId id_of(std::size_t number) const;
    [[nodiscard]] std::size_t number_of(const MessageId& id) const;

    // A broker's decision about a message that has reached it: accepted, refused or unacceptable.
    [[nodiscard]] Verdict receive(std::size_t destination, const Parcel& parcel);

    // Nobody could ever deliver it there.
    [[nodiscard]] bool is_incurable(std::size_t destination, std::size_t number) const;

    // Committed messages that have neither arrived nor will rest as dead letters.
    [[nodiscard]] std::size_t missing() const;

    void note(
        std::string_view what,
        std::uint64_t a = 0,
        std::uint64_t b = 0,
        std::uint64_t c = 0
    ) {
        trace.note(scheduler.now(), what, {a, b, c});
    }

    const Scenario scenario;
    const Bug bug;
    Scheduler scheduler;
    SeededDice dice;
    Trace trace;
    History history;
    FaultTally tally{};
    std::shared_ptr<WorldClock> clock;
    std::shared_ptr<MemoryDatabase> database;
    std::vector<Ringer*> ringers;  // in the order of their birth

    bool calm = false;        // no more faults
    bool store_away = false;  // nobody reaches the database
    std::vector<bool> broker_away;

private:
    enum class Sickness : std::uint8_t { none, poison, incurable, unacceptable };
    [[nodiscard]] Sickness sickness(std::size_t destination, std::size_t number) const;
    Verdict refuse(std::size_t destination, const Parcel& parcel, Trouble::Sort sort);

    struct Ambush {
        std::uint64_t steps = 0;  // 0: nobody waits
        FibreNumber waiting = 0;
        std::optional<std::size_t> relay;
    };

    Ambush ambush_;
    std::vector<std::map<std::size_t, int>> refusals_;  // by destination, then message
    std::vector<std::vector<bool>> arrived_;
};

// A hash of a message's content.
[[nodiscard]] std::uint64_t digest_of(const Message& message);
[[nodiscard]] std::uint64_t digest_of(const Envelope& envelope);

}  // namespace outrider::simulation
