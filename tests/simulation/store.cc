#include "simulation/store.h"

#include <algorithm>

#include "simulation/admin.h"
#include "simulation/relay.h"

namespace outrider::simulation {

// The client's end of a claim. If the client dies, the server's end does not notice.
class SimulatedStore::Hold final : public Batch::Hold {
public:
    Hold(
        const Process& process,
        std::shared_ptr<Connection> connection,
        std::unique_ptr<Batch::Hold> real
    )
        : process_(process),
          connection_(std::move(connection)),
          real_(std::move(real)) {}
    ~Hold() override {
        if (real_ && process_.is_dead()) connection_->keep(std::move(real_));
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

    [[nodiscard]] std::unique_ptr<Batch::Hold> release() { return std::move(real_); }

private:
    const Process& process_;
    std::shared_ptr<Connection> connection_;
    std::unique_ptr<Batch::Hold> real_;
};

SimulatedStore::~SimulatedStore() {
    if (process_.is_dead()) return;  // the server will notice in its own time
    if (!abandoned_) {
        connection_->cut();
        return;
    }
    World& world = process_.world();
    world.scheduler.at(
        world.scheduler.now() + world.up_to(world.scenario.patience),
        [connection = connection_] { connection->cut(); }
    );
}

bool SimulatedStore::is_unreachable() const {
    return process_.is_dead() || process_.world().store_away;
}

Error SimulatedStore::fail(FaultSort sort) {
    process_.world().record(sort, flight_.destination, flight_.accepted);
    return {Remedy::wait, std::string(to_string(sort))};
}

Result<Batch> SimulatedStore::claim(const BatchLimits& limits) {
    World& world = process_.world();
    flight_.accepted.clear();
    world.step(world.scenario.store_latency_max);
    if (is_unreachable() || world.happens(world.scenario.faults.claim_failed)) {
        return fail(FaultSort::claim_failed);
    }
    Result<Batch> claimed = connection_->store().claim(limits);
    if (!claimed) return claimed;
    if (claimed->hold) {
        claimed->hold = std::make_unique<Hold>(process_, connection_, std::move(claimed->hold));
    }
    process_.step(world.scenario.store_latency_max);
    if (process_.is_dead() || world.happens(world.scenario.faults.claim_reply_lost)) {
        abandon(std::move(claimed).value());
        return fail(FaultSort::claim_reply_lost);
    }
    return claimed;
}

Result<void> SimulatedStore::settle(Batch batch, std::span<const Settlement> settlements) {
    World& world = process_.world();
    const FaultRates& faults = world.scenario.faults;
    process_.step(world.scenario.store_latency_max);
    if (is_unreachable() || world.happens(faults.settle_failed)) {
        abandon(std::move(batch));
        return fail(FaultSort::settle_failed);
    }
    if (world.happens(faults.settle_late)) {
        settle_later(std::move(batch), settlements);
        return fail(FaultSort::settle_late);
    }
    Result<void> settled = settle_now(std::move(batch), settlements);
    process_.step(world.scenario.store_latency_max);
    if (process_.is_dead() || world.happens(faults.settle_reply_lost)) {
        return fail(FaultSort::settle_reply_lost);
    }
    return settled;
}

// For Bug::stale_settle_written: what the settle would park.
std::vector<Message> SimulatedStore::parked_by(
    const Batch& batch,
    std::span<const Settlement> settlements
) const {
    std::vector<Message> messages;
    if (process_.world().bug != Bug::stale_settle_written) return messages;
    for (std::size_t i = 0; i < settlements.size(); ++i) {
        if (settlements[i].fate != Fate::again) continue;
        const Envelope& envelope = batch.envelopes[i];
        Message& message = messages.emplace_back();
        message.id = envelope.id;
        message.topic = envelope.topic;
        message.key = envelope.key;
        message.payload = envelope.payload;
        message.type = envelope.type;
        for (const HeaderView& header : envelope.headers) {
            message.headers.push_back({std::string(header.name), std::string(header.value)});
        }
    }
    return messages;
}

Result<void> SimulatedStore::settle_now(Batch batch, std::span<const Settlement> settlements) {
    batch.hold = dynamic_cast<Hold&>(*batch.hold).release();
    const std::vector<Message> stale = parked_by(batch, settlements);
    Result<void> settled = connection_->store().settle(std::move(batch), settlements);
    if (settled) {
        flight_.accepted.clear();
    } else {
        fail(FaultSort::claim_lost);
        World& world = process_.world();
        if (world.bug == Bug::stale_settle_written && !stale.empty()) world.commit(stale);
    }
    return settled;
}

// The client has given up, yet its request is still on its way to the server.
void SimulatedStore::settle_later(Batch batch, std::span<const Settlement> settlements) {
    World& world = process_.world();
    abandoned_ = true;
    batch.hold = dynamic_cast<Hold&>(*batch.hold).release();
    const auto parcel = std::make_shared<Batch>(std::move(batch));
    world.scheduler.at(
        world.scheduler.now() + world.up_to(std::chrono::milliseconds(200)),
        [connection = connection_,
         parcel,
         copy = std::vector<Settlement>(settlements.begin(), settlements.end())] {
            // Lost or not, nobody is there to hear of it.
            const Result<void> ignored = connection->store().settle(std::move(*parcel), copy);
            static_cast<void>(ignored);
            connection->cut();
        }
    );
}

void SimulatedStore::abandon(Batch batch) {
    abandoned_ = true;
    if (batch.hold) connection_->keep(dynamic_cast<Hold&>(*batch.hold).release());
}

Result<std::unique_ptr<Store>> SimulatedStoreDriver::open(const Destination& destination) {
    World& world = process_.world();
    world.step(world.scenario.store_latency_max);
    if (process_.is_dead() || world.store_away) return Error{Remedy::wait, "no database"};
    Result<std::unique_ptr<Store>> opened = world.database->open(destination);
    if (!opened) return opened;
    auto connection = std::make_shared<Connection>(world.database, std::move(opened).value());
    process_.adopt(connection);
    return plant(
        world.bug, destination, std::make_unique<SimulatedStore>(process_, flight, connection)
    );
}

Result<std::unique_ptr<StoreAdmin>> SimulatedStoreDriver::open_admin(IfMissing if_missing) {
    World& world = process_.world();
    world.step(world.scenario.store_latency_max);
    if (process_.is_dead() || world.store_away) return Error{Remedy::wait, "no database"};
    Result<std::unique_ptr<StoreAdmin>> opened = world.database->open_admin(if_missing);
    if (!opened) return opened;
    return std::unique_ptr<StoreAdmin>(
        std::make_unique<SimulatedAdmin>(process_, std::move(opened).value())
    );
}

std::unique_ptr<Waker> SimulatedStoreDriver::make_waker(Observer& /*observer*/) {
    return std::make_unique<Ringer>(process_);
}

}  // namespace outrider::simulation
