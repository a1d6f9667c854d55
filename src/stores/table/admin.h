#pragma once

#include <memory>

#include "core/store_admin.h"
#include "stores/table/store.h"

namespace outrider::table {

// What operators do, on an application's own table. Nothing is kept besides the table, so there is
// nothing to migrate, to pause or to forget.
class TableAdmin final : public StoreAdmin {
public:
    // What relays of this process hold back, by the name of their destination.
    using HeldRows = std::map<std::string, std::shared_ptr<Held>>;

    [[nodiscard]] static Result<std::unique_ptr<StoreAdmin>> open(
        const TablePlace& place,
        std::vector<Destination> destinations,
        HeldRows held
    );

    // Remarks on ids that need not be unique, and on nothing else.
    [[nodiscard]] Result<SchemaVersion> schema_version() override;

    // Changes nothing; remarks on what the table lacks and what such a table cannot give.
    [[nodiscard]] Result<SchemaVersion> migrate() override;

    // The index that a relay wants, for a DBA.
    [[nodiscard]] std::string schema_text() override;
    [[nodiscard]] Result<Backlog> backlog(const std::vector<Destination>& expected) override;
    [[nodiscard]] Result<std::vector<DeadLetter>> dead_letters(const DeadFilter& filter) override;
    [[nodiscard]] Result<std::vector<DeadLetter>> dead_letter(const MessageId& id) override;
    [[nodiscard]] Result<std::uint64_t> replay_dead(const DeadFilter& filter) override;
    [[nodiscard]] Result<std::uint64_t> discard_dead(const DeadFilter& filter) override;
    // Refused: such a table keeps no history.
    [[nodiscard]] Result<std::optional<std::uint64_t>> replay(
        const ReplayFilter& filter,
        bool dry_run
    ) override;

    // What migrate() remarks, and rows whose status means nothing to us; reads the whole table.
    [[nodiscard]] Result<std::vector<Finding>> examine() override;
    [[nodiscard]] Result<Adoption> adopt(std::optional<bool> /*follow_promotions*/) override {
        Adoption nothing;
        nothing.has_log = false;
        return nothing;
    }
    [[nodiscard]] Result<bool> set_paused(std::string_view destination, bool paused) override;
    [[nodiscard]] Result<bool> forget(std::string_view destination) override;
    [[nodiscard]] Result<void> note_circuit(
        std::string_view destination,
        CircuitState state,
        std::string_view reason
    ) override;

    // By the table's own retention time, and never where none was set.
    [[nodiscard]] Result<std::uint64_t> clean_up(Duration retention, std::size_t limit) override;

private:
    TableAdmin(
        postgres::Connection connection,
        Wording wording,
        std::vector<Destination> destinations,
        HeldRows held
    )
        : connection_(std::move(connection)),
          wording_(std::move(wording)),
          destinations_(std::move(destinations)),
          held_(std::move(held)) {}

    [[nodiscard]] Result<void> add_odd_rows(std::vector<Finding>& findings);
    [[nodiscard]] Result<DestinationStatus> status(const Destination& destination);
    [[nodiscard]] Result<void> read_unrouted(
        const std::vector<Destination>& destinations,
        Backlog& backlog
    );

    // Runs a statement of dead_*.sql for every destination that the filter means.
    using Take = std::function<void(const Destination&, const postgres::Rows&)>;
    [[nodiscard]] Result<void> for_dead(
        std::string_view sql,
        const DeadFilter& filter,
        const Take& take
    );
    [[nodiscard]] Result<std::vector<DeadLetter>> list_dead(const DeadFilter& filter, bool whole);
    [[nodiscard]] Result<std::uint64_t> change_dead(std::string_view sql, const DeadFilter& filter);

    postgres::Connection connection_;
    const Wording wording_;
    const std::vector<Destination> destinations_;
    const HeldRows held_;
    SystemClock clock_;
    MonoTime clean_up_at_;  // not before: the last look found little
};

}  // namespace outrider::table
