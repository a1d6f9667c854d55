#pragma once

#include <memory>
#include <vector>

#include "core/topics.h"
#include "stores/memory/database.h"
#include "stores/shared/parked_share.h"

namespace outrider {

// One connection to a MemoryDatabase.
class MemoryStoreConnection final : public Store {
public:
    MemoryStoreConnection(std::shared_ptr<MemoryDatabase> database, const Destination& destination)
        : database_(std::move(database)),
          destination_(destination),
          filter_(destination.topics) {}

    [[nodiscard]] Result<Batch> claim(const BatchLimits& limits) override;
    [[nodiscard]] Result<void> settle(Batch batch, std::span<const Settlement> settlements)
        override;

    // The connection is gone: whatever it had locked is free.
    void sever();

    class Claim;  // the hold of a batch

private:
    class Reader;

    // All of these with the database's mutex held.
    DestinationState* state();
    std::vector<std::uint32_t> lock_lanes(DestinationState& state, std::size_t most);
    void move_cursors(
        DestinationState& state,
        const Batch& batch,
        std::span<const Settlement> settlements
    );
    void apply(
        DestinationState& state,
        const Envelope& envelope,
        const Settlement& settlement,
        WallTime now
    );

    std::shared_ptr<MemoryDatabase> database_;
    const Destination destination_;
    TopicFilter filter_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
    Claim* open_claim_ = nullptr;
    std::size_t first_lane_ = 0;
    ParkedShare parked_share_;
};

}  // namespace outrider
