#pragma once

#include <deque>
#include <memory>
#include <stop_token>
#include <vector>

#include "relay/keeper.h"
#include "relay/worker.h"
#include "simulation/broker.h"
#include "simulation/store.h"
#include "simulation/world.h"

namespace outrider::simulation {

// What a simulated worker sleeps on: virtual time, and rings. Known to the world while it lives.
class Ringer final : public Waker {
public:
    explicit Ringer(Process& process);
    ~Ringer() override;
    Ringer(const Ringer&) = delete;
    Ringer& operator=(const Ringer&) = delete;

    void wait(MonoTime until) override;
    void ring() override;

private:
    Process& process_;
    std::optional<FibreNumber> sleeper_;
    bool rung_ = false;
};

// Every decision of the loop goes into the trace.
class TracingObserver final : public Observer {
public:
    TracingObserver(World& world, std::size_t relay) : world_(world), relay_(relay) {}

    void claimed(const Destination& destination, std::span<const Envelope> envelopes, Duration took)
        override;
    void published(
        const Destination& destination,
        std::span<const Envelope> envelopes,
        std::span<const Answer> answers,
        Duration took
    ) override;
    void decided(
        const Destination& destination,
        std::span<const Envelope> envelopes,
        std::span<const Settlement> settlements
    ) override;
    void settled(const Destination& destination, std::uint64_t messages, Duration took) override;
    void faulted(const Destination& destination, Stage stage, const Error& error) override;
    void circuit_changed(
        const Destination& destination,
        CircuitState state,
        std::string_view reason
    ) override;
    void cleaned_up(std::uint64_t messages) override;

private:
    World& world_;
    const std::size_t relay_;
};

// One life of a relay: the real workers and the real keeper, each on a fibre of its own. It stops
// in order, is killed (its seams turn dumb, so that the code unwinds by itself without touching the
// world), or is frozen for a while.
class Process {
public:
    Process(World& world, std::size_t relay);
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    // Time passes in the middle of a turn.
    void step(Duration at_most) {
        world_.pass_turn(relay_);
        world_.step(at_most);
    }

    void start();
    void stop();
    void kill();
    void freeze(Duration duration);
    void thaw();

    // The database drops all its connections.
    void cut_connections();
    void adopt(const std::shared_ptr<Connection>& connection) {
        connections_.push_back(connection);
    }

    [[nodiscard]] bool is_dead() const { return dead_; }
    [[nodiscard]] bool is_frozen() const;
    [[nodiscard]] bool has_ended() const;
    [[nodiscard]] World& world() const { return world_; }

private:
    struct Post;
    struct Hand;

    void keep_house();
    void cut_late();

    World& world_;
    const std::size_t relay_;
    TracingObserver observer_;
    SimulatedStoreDriver keeper_store_;
    Keeper keeper_;
    Ringer keeper_ringer_;
    std::deque<Post> posts_;
    std::deque<Hand> hands_;
    std::vector<FibreNumber> fibres_;
    std::vector<std::weak_ptr<Connection>> connections_;
    std::stop_source stop_;
    MonoTime frozen_until_{};
    bool dead_ = false;
};

}  // namespace outrider::simulation
