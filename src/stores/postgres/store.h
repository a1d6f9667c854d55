#pragma once

#include <memory>
#include <optional>

#include "core/dice.h"
#include "core/store.h"
#include "core/topics.h"
#include "stores/postgres/claim.h"
#include "stores/postgres/claim_query.h"
#include "stores/postgres/lane_moves.h"
#include "stores/postgres/lane_share.h"
#include "stores/postgres/names.h"
#include "stores/postgres/options.h"
#include "stores/postgres/pipeline.h"
#include "stores/shared/parked_share.h"
#include "stores/shared/topic_list.h"

namespace outrider::postgres {

// A store for one destination of a PostgreSQL log. A claim opens a transaction, locks lanes with
// advisory locks that end with it, and reads; the transaction stays open, with no id and no
// snapshot, while the broker answers; the settle writes and commits in one round trip. A batch that
// is dropped rolls back.
class PostgresStore final : public Store {
public:
    [[nodiscard]] static Result<std::unique_ptr<Store>> open(
        const StoreOptions& options,
        const Destination& destination,
        TopicLists& lists
    );

    ~PostgresStore() override;
    PostgresStore(const PostgresStore&) = delete;
    PostgresStore& operator=(const PostgresStore&) = delete;

    [[nodiscard]] Result<Batch> claim(const BatchLimits& limits) override;
    [[nodiscard]] Result<void> settle(Batch batch, std::span<const Settlement> settlements)
        override;
    [[nodiscard]] Result<void> try_writing() override;

private:
    class OpenTurn;

    PostgresStore(
        Connection connection,
        Names names,
        StoreOptions options,
        const Destination& destination,
        const Registered& registered
    )
        : connection_(std::move(connection)),
          names_(std::move(names)),
          options_(std::move(options)),
          destination_(destination),
          filter_(destination.topics),
          registered_(registered),
          pipeline_(connection_),
          query_(names_, options_, destination_, registered_),
          dice_(random_seed()) {}

    [[nodiscard]] Result<std::unique_ptr<Claim>> read(
        const ClaimReader::Limits& limits,
        const LaneShare& share,
        const std::optional<KnownPlace>& place,
        Batch& batch
    );
    // At the place where our last settle has left the lanes. Nothing: it has to be made in full.
    [[nodiscard]] Result<std::optional<Batch>> claim_again(
        const ClaimReader::Limits& limits,
        const LaneShare& share
    );
    void remember_place(const Claim& claim, const LaneMoves& moves, std::span<const Rows> settled);
    [[nodiscard]] bool saw_all(const Claim& claim);
    [[nodiscard]] Result<void> check_owner(std::size_t locked, const Rows& log) const;

    [[nodiscard]] static bool has_work(const Claim& claim, const Batch& batch);
    [[nodiscard]] static Batch nothing(const Claim& claim, Batch batch);
    [[nodiscard]] Batch hand_out(std::unique_ptr<Claim> claim, Batch batch);
    [[nodiscard]] Result<void> show_itself() const;
    [[nodiscard]] std::int64_t first_lane();
    void roll_back();

    Connection connection_;
    const Names names_;
    const StoreOptions options_;
    const Destination destination_;
    TopicFilter filter_;
    const Registered registered_;
    Pipeline pipeline_;
    ClaimQuery query_;
    SeededDice dice_;
    std::optional<std::int64_t> first_lane_;
    ParkedShare parked_share_;
    std::set<int> next_segments_;  // that are enough for the next claim
    std::optional<KnownPlace> known_;
    int disturbed_for_ = 0;  // so many turns more somebody else is taken to move our lanes, too
    bool turn_open_ = false;
};

}  // namespace outrider::postgres
