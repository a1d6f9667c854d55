#pragma once

#include <memory>

#include "simulation/relay.h"
#include "simulation/world.h"

namespace outrider::simulation {

// The database as a relay's keeper sees it: calls take time and fail while it is away. What only
// operators call goes straight through.
class SimulatedAdmin final : public StoreAdmin {
public:
    SimulatedAdmin(Process& process, std::unique_ptr<StoreAdmin> admin)
        : process_(process),
          admin_(std::move(admin)) {}

    Result<SchemaVersion> schema_version() override { return admin_->schema_version(); }
    Result<SchemaVersion> migrate() override { return admin_->migrate(); }
    std::string schema_text() override { return admin_->schema_text(); }
    Result<Backlog> backlog(const std::vector<Destination>& expected) override {
        return admin_->backlog(expected);
    }
    Result<std::vector<DeadLetter>> dead_letters(const DeadFilter& filter) override {
        return admin_->dead_letters(filter);
    }
    Result<std::vector<DeadLetter>> dead_letter(const MessageId& id) override {
        return admin_->dead_letter(id);
    }
    Result<std::uint64_t> replay_dead(const DeadFilter& filter) override {
        return admin_->replay_dead(filter);
    }
    Result<std::uint64_t> discard_dead(const DeadFilter& filter) override {
        return admin_->discard_dead(filter);
    }
    Result<std::optional<std::uint64_t>> replay(const ReplayFilter& filter, bool dry_run) override {
        return admin_->replay(filter, dry_run);
    }
    Result<std::vector<Finding>> examine() override { return admin_->examine(); }
    Result<Adoption> adopt(std::optional<bool> follow_promotions) override {
        return admin_->adopt(follow_promotions);
    }
    Result<bool> set_paused(std::string_view destination, bool paused) override {
        return admin_->set_paused(destination, paused);
    }
    Result<bool> forget(std::string_view destination) override {
        return admin_->forget(destination);
    }

    Result<void> note_circuit(
        std::string_view destination,
        CircuitState state,
        std::string_view reason
    ) override {
        if (is_unreachable()) return Error{Remedy::wait, "no database"};
        return admin_->note_circuit(destination, state, reason);
    }

    Result<std::uint64_t> clean_up(Duration retention, std::size_t limit) override {
        if (is_unreachable()) return Error{Remedy::wait, "no database"};
        World& world = process_.world();
        for (const Place& place : world.scenario.places) {
            if (world.bug != Bug::clean_up_ignores_cursors) break;
            clean_up_unread(*world.database, place.destination, retention);
        }
        return admin_->clean_up(retention, limit);
    }

private:
    [[nodiscard]] bool is_unreachable() {
        World& world = process_.world();
        world.step(world.scenario.store_latency_max);
        return process_.is_dead() || world.store_away;
    }

    Process& process_;
    std::unique_ptr<StoreAdmin> admin_;
};

}  // namespace outrider::simulation
