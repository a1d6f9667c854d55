#include "stores/memory/database.h"

#include <algorithm>

#include "core/hash.h"
#include "stores/memory/admin.h"
#include "stores/memory/logbook.h"
#include "stores/memory/store.h"

namespace outrider {

bool DestinationState::is_held(OrderKey key) const {
    return std::any_of(dead.begin(), dead.end(), [key](const auto& entry) {
        return entry.second.holds_key && entry.second.parked.key == key;
    });
}

bool DestinationState::takes(const std::vector<std::string>& topics) const {
    return topics == destination.topics || topics_json(topics) == topics_json(destination.topics);
}

// A bell that is rung by commits for as long as it lives.
class MemoryDatabase::BellHandle final : public Waker {
public:
    explicit BellHandle(std::shared_ptr<MemoryDatabase> database) : database_(std::move(database)) {
        const std::lock_guard lock(database_->mutex_);
        database_->bells_.insert(&bell_);
    }
    ~BellHandle() override {
        const std::lock_guard lock(database_->mutex_);
        database_->bells_.erase(&bell_);
    }
    BellHandle(const BellHandle&) = delete;
    BellHandle& operator=(const BellHandle&) = delete;

    void wait(MonoTime until) override { bell_.wait(until); }
    void ring() override { bell_.ring(); }

private:
    std::shared_ptr<MemoryDatabase> database_;
    Bell bell_;
};

std::uint32_t MemoryDatabase::lane_of(const Message& message, std::int64_t seq) const {
    const OrderKey hash = order_key(Order::key, message.topic, message.key, seq);
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(hash) % options_.lanes);
}

void MemoryDatabase::commit(std::vector<Message> messages) {
    const WallTime now = clock_->wall();
    const std::lock_guard lock(mutex_);
    for (Message& message : messages) {
        auto row = std::make_shared<LogRow>();
        row->seq = ++last_seq_;
        row->message = std::move(message);
        if (!row->message.id) row->message.id = MessageId::generate();
        if (!row->message.occurred_at) row->message.occurred_at = now;
        for (const Header& header : row->message.headers) {
            row->header_views.push_back({header.name, header.value});
        }
        row->stored_at = now;
        row->lane = lane_of(row->message, row->seq);
        log_.emplace(row->seq, row);
        lane_rows_[row->lane].emplace(row->seq, row);
    }
    for (Bell* bell : bells_) bell->ring();
}

void MemoryDatabase::introduce(DestinationState& state, const Destination& destination) const {
    const std::int64_t start = destination.start == Start::now ? last_seq_ : 0;
    state.destination = destination;
    state.positions.assign(options_.lanes, start);
    state.locked.assign(options_.lanes, false);
}

Result<std::unique_ptr<Store>> MemoryDatabase::open(const Destination& destination) {
    const std::lock_guard lock(mutex_);
    const auto [entry, is_new] = destinations_.try_emplace(destination.name);
    DestinationState& state = entry->second;
    if (is_new) introduce(state, destination);
    if (!state.takes(destination.topics)) {
        const Result<void> may =
            lists_.may_replace(destination, topics_json(state.destination.topics));
        if (!may) return may.error();
    }
    lists_.remember(destination);
    state.destination = destination;
    return std::unique_ptr<Store>(
        std::make_unique<MemoryStoreConnection>(shared_from_this(), destination)
    );
}

Result<std::unique_ptr<Logbook>> MemoryDatabase::open_logbook(
    const Destination& destination,
    std::uint64_t session
) {
    return std::unique_ptr<Logbook>(
        std::make_unique<MemoryLogbook>(shared_from_this(), destination.name, session)
    );
}

Result<std::unique_ptr<StoreAdmin>> MemoryDatabase::open_admin(IfMissing /*if_missing*/) {
    return std::unique_ptr<StoreAdmin>(std::make_unique<MemoryAdmin>(shared_from_this()));
}

std::unique_ptr<Waker> MemoryDatabase::make_waker(Observer& /*observer*/) {
    return std::make_unique<BellHandle>(shared_from_this());
}

void MemoryDatabase::sever(Store& store) {
    dynamic_cast<MemoryStoreConnection&>(store).sever();
}

std::size_t MemoryDatabase::log_size() const {
    const std::lock_guard lock(mutex_);
    return log_.size();
}

}  // namespace outrider
