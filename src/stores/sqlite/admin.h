#pragma once

#include <functional>
#include <memory>

#include "core/clock.h"
#include "core/store.h"
#include "core/store_admin.h"
#include "stores/sqlite/connection.h"

namespace outrider::sqlite {

// What operators do, on a SQLite database.
class SqliteAdmin final : public StoreAdmin {
public:
    // Opens any database, also one without our tables; only migrating makes sense then.
    [[nodiscard]] static Result<std::unique_ptr<StoreAdmin>> open(
        const std::string& path,
        StoreDriver::IfMissing if_missing,
        std::shared_ptr<Clock> clock
    );

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
    [[nodiscard]] Result<std::uint64_t> clean_inbox(std::size_t limit) override;

private:
    // Notes how far the log has come by now, and forgets what need not be known any longer.
    [[nodiscard]] Result<void> note_progress(WallTime now, Duration retention);

    // Where a dead letter is kept, and whom it holds back.
    struct DeadPlace {
        std::int64_t destination = 0;
        std::int64_t seq = 0;
        std::int64_t order_key = 0;
    };
    struct Found {
        DeadLetter letter;
        DeadPlace place;
    };

    SqliteAdmin(Connection connection, std::string path, std::shared_ptr<Clock> clock)
        : connection_(std::move(connection)),
          path_(std::move(path)),
          clock_(std::move(clock)) {}

    [[nodiscard]] Result<std::vector<Found>> find_dead(const DeadFilter& filter);

    // Runs `change` for each dead letter that fits, then frees or moves its key, in one
    // transaction.
    [[nodiscard]] Result<std::uint64_t> change_dead(
        const DeadFilter& filter,
        const std::function<Result<void>(const DeadPlace&)>& change
    );
    [[nodiscard]] Result<void> discard_one(const DeadPlace& place);
    [[nodiscard]] Result<void> refresh_key(const DeadPlace& place);
    [[nodiscard]] Result<std::int64_t> run(
        std::string_view sql,
        const std::function<void(Statement&)>& bind
    );

    Connection connection_;
    const std::string path_;
    const std::shared_ptr<Clock> clock_;
};

}  // namespace outrider::sqlite
