#pragma once

#include <functional>
#include <memory>

#include "core/store_admin.h"
#include "stores/postgres/connection.h"
#include "stores/postgres/names.h"
#include "stores/postgres/options.h"

namespace outrider::postgres {

// What operators do, on a PostgreSQL log. Whatever touches a lane's parked messages takes that
// lane's lock first.
class PostgresAdmin final : public StoreAdmin {
public:
    [[nodiscard]] static Result<std::unique_ptr<StoreAdmin>> open(const StoreOptions& options);

    [[nodiscard]] Result<SchemaVersion> schema_version() override;
    [[nodiscard]] Result<SchemaVersion> migrate() override;
    [[nodiscard]] std::string schema_text() override;
    [[nodiscard]] Result<Backlog> backlog(const std::vector<Destination>& expected) override;
    [[nodiscard]] Result<std::vector<DeadLetter>> dead_letters(const DeadFilter& filter) override;
    [[nodiscard]] Result<std::vector<DeadLetter>> dead_letter(const MessageId& id) override;
    [[nodiscard]] Result<std::uint64_t> replay_dead(const DeadFilter& filter) override;
    [[nodiscard]] Result<std::uint64_t> discard_dead(const DeadFilter& filter) override;
    [[nodiscard]] Result<std::optional<std::uint64_t>> replay(
        const ReplayFilter& filter,
        bool dry_run
    ) override;
    [[nodiscard]] Result<std::vector<Finding>> examine() override;
    [[nodiscard]] Result<Adoption> adopt(std::optional<bool> follow_promotions) override;
    [[nodiscard]] Result<bool> set_paused(std::string_view destination, bool paused) override;
    [[nodiscard]] Result<bool> forget(std::string_view destination) override;
    [[nodiscard]] Result<void> note_circuit(
        std::string_view destination,
        CircuitState state,
        std::string_view reason
    ) override;
    [[nodiscard]] Result<std::uint64_t> clean_up(Duration retention, std::size_t limit) override;
    [[nodiscard]] Result<std::uint64_t> clean_inbox(std::size_t limit) override;

private:
    PostgresAdmin(Connection connection, Names names, StoreOptions options)
        : connection_(std::move(connection)),
          names_(std::move(names)),
          options_(std::move(options)) {}

    [[nodiscard]] Result<Rows> find_dead(const DeadFilter& filter);

    // In one transaction: the lanes' locks, then `replays` or not, then gone from the dead letters.
    [[nodiscard]] Result<std::uint64_t> change_dead(const DeadFilter& filter, bool replays);
    [[nodiscard]] Result<std::uint64_t> change_one(const Rows& found, int row, bool replays);
    [[nodiscard]] Result<void> in_transaction(const std::function<Result<void>()>& work);
    [[nodiscard]] Result<void> run(std::string_view sql, const Parameters& parameters);

    Connection connection_;
    const Names names_;
    const StoreOptions options_;
};

}  // namespace outrider::postgres
