#pragma once

#include <functional>
#include <memory>

#include "stores/memory/database.h"

namespace outrider {

// What operators do, on a MemoryDatabase.
class MemoryAdmin final : public StoreAdmin {
public:
    explicit MemoryAdmin(std::shared_ptr<MemoryDatabase> database)
        : database_(std::move(database)) {}

    [[nodiscard]] Result<SchemaVersion> schema_version() override { return SchemaVersion{1, 1}; }
    [[nodiscard]] Result<SchemaVersion> migrate() override { return SchemaVersion{1, 1}; }
    [[nodiscard]] std::string schema_text() override { return "-- memory needs no schema\n"; }
    [[nodiscard]] Result<Backlog> backlog(const std::vector<Destination>& expected) override;
    [[nodiscard]] Result<std::vector<DeadLetter>> dead_letters(const DeadFilter& filter) override;
    [[nodiscard]] Result<std::vector<DeadLetter>> dead_letter(const MessageId& id) override;
    [[nodiscard]] Result<std::uint64_t> replay_dead(const DeadFilter& filter) override;
    [[nodiscard]] Result<std::uint64_t> discard_dead(const DeadFilter& filter) override;
    [[nodiscard]] Result<std::optional<std::uint64_t>> replay(
        const ReplayFilter& filter,
        bool dry_run
    ) override;
    [[nodiscard]] Result<std::vector<Finding>> examine() override { return std::vector<Finding>{}; }
    [[nodiscard]] Result<Adoption> adopt(std::optional<bool> /*follow_promotions*/) override {
        return Adoption{};
    }
    [[nodiscard]] Result<bool> set_paused(std::string_view destination, bool paused) override;
    [[nodiscard]] Result<bool> forget(std::string_view destination) override;
    [[nodiscard]] Result<void> note_circuit(
        std::string_view destination,
        CircuitState state,
        std::string_view reason
    ) override;
    [[nodiscard]] Result<std::uint64_t> clean_up(Duration retention, std::size_t limit) override;

private:
    using Visit = std::function<void(DestinationState&, std::int64_t seq, const DeadRow&)>;

    // Calls `visit` for every dead letter that fits, oldest first. Returns how many.
    std::uint64_t for_each_dead(const DeadFilter& filter, const Visit& visit);
    void ring_all();

    std::shared_ptr<MemoryDatabase> database_;
};

}  // namespace outrider
