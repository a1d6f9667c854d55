#pragma once

#include <memory>
#include <vector>

#include "simulation/world.h"

namespace outrider::simulation {

// What one worker's turn has got accepted by the broker and not yet settled: exactly this may
// arrive once more if a fault strikes now.
struct Flight {
    std::size_t destination = 0;
    std::vector<MessageId> accepted;
};

// The server's end of a connection. It outlives the client's when that one died silently.
class Connection {
public:
    Connection(std::shared_ptr<MemoryDatabase> database, std::unique_ptr<Store> store)
        : database_(std::move(database)),
          store_(std::move(store)) {}

    [[nodiscard]] Store& store() { return *store_; }

    // A claim whose client is gone without a word: its lanes stay locked.
    void keep(std::unique_ptr<Batch::Hold> orphan) { orphans_.push_back(std::move(orphan)); }

    // The server has noticed: the lanes are free.
    void cut() {
        database_->sever(*store_);
        orphans_.clear();
    }

private:
    std::shared_ptr<MemoryDatabase> database_;
    std::unique_ptr<Store> store_;
    std::vector<std::unique_ptr<Batch::Hold>> orphans_;
};

// A connection to the database as a relay has it: every call takes time, may fail, may succeed
// without an answer, and does nothing at all once the relay is dead.
class SimulatedStore final : public Store {
public:
    SimulatedStore(Process& process, Flight& flight, std::shared_ptr<Connection> connection)
        : process_(process),
          flight_(flight),
          connection_(std::move(connection)) {}
    ~SimulatedStore() override;
    SimulatedStore(const SimulatedStore&) = delete;
    SimulatedStore& operator=(const SimulatedStore&) = delete;

    [[nodiscard]] Result<Batch> claim(const BatchLimits& limits) override;
    [[nodiscard]] Result<void> settle(Batch batch, std::span<const Settlement> settlements)
        override;

private:
    class Hold;

    [[nodiscard]] bool is_unreachable() const;
    Error fail(FaultSort sort);
    void abandon(Batch batch);
    void settle_later(Batch batch, std::span<const Settlement> settlements);
    [[nodiscard]] std::vector<Message> parked_by(
        const Batch& batch,
        std::span<const Settlement> settlements
    ) const;
    Result<void> settle_now(Batch batch, std::span<const Settlement> settlements);

    Process& process_;
    Flight& flight_;
    std::shared_ptr<Connection> connection_;
    bool abandoned_ = false;
};

// Opens such connections for one worker.
class SimulatedStoreDriver final : public StoreDriver {
public:
    SimulatedStoreDriver(Process& process, std::size_t destination) : process_(process) {
        flight.destination = destination;
    }

    [[nodiscard]] Result<std::unique_ptr<Store>> open(const Destination& destination) override;
    [[nodiscard]] Result<std::unique_ptr<StoreAdmin>> open_admin(IfMissing if_missing) override;
    [[nodiscard]] std::unique_ptr<Waker> make_waker(Observer& observer) override;

    Flight flight;

private:
    Process& process_;
};

}  // namespace outrider::simulation
