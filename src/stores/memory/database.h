#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/bell.h"
#include "core/clock.h"
#include "core/store.h"
#include "core/store_admin.h"
#include "stores/shared/topic_list.h"

namespace outrider {

// One message in the log, and where it was sorted to.
struct LogRow {
    std::int64_t seq = 0;
    std::uint32_t lane = 0;
    Message message;
    WallTime stored_at;
    std::vector<HeaderView> header_views;  // into message.headers, so that envelopes need no copy
};
using LogRowPtr = std::shared_ptr<const LogRow>;

// A message that waits. Shares the log's memory of it, so that clean-up of the log takes nothing
// away.
struct ParkedRow {
    LogRowPtr row;
    OrderKey key = 0;
    std::uint32_t attempts = 0;
    std::optional<WallTime> refused_at;
    WallTime due_at;
    std::string error;
};

struct DeadRow {
    ParkedRow parked;
    WallTime died_at;
    bool holds_key = false;
};

// A relay whose broker runs in its own process, and what it had or has in hand: see Logbook.
struct SessionRow {
    bool unexplained = false;
    bool alive = true;
};
struct MarkRow {
    std::uint32_t ends = 0;
    std::optional<std::uint64_t> session;  // whose hand; nothing: nobody's
};

// Everything that is remembered of a destination. What holds back a key is derived from `parked`
// and `dead`.
struct DestinationState {
    Destination destination;
    std::vector<std::int64_t> positions;  // per lane: the last number passed
    std::vector<bool> locked;             // per lane
    std::map<OrderKey, std::map<std::int64_t, ParkedRow>> parked;  // by key, then by number
    std::map<std::int64_t, DeadRow> dead;                          // by number
    std::uint64_t delivered = 0;
    bool paused = false;
    CircuitState circuit = CircuitState::closed;
    std::string circuit_reason;
    std::map<std::uint64_t, SessionRow> sessions;
    std::map<std::int64_t, MarkRow> marks;  // by number

    // Whether this is its list of topics.
    [[nodiscard]] bool takes(const std::vector<std::string>& topics) const;

    [[nodiscard]] bool is_parked(OrderKey key, std::int64_t seq) const {
        const auto chain = parked.find(key);
        return chain != parked.end() && chain->second.contains(seq);
    }
    [[nodiscard]] bool is_held(OrderKey key) const;
    [[nodiscard]] bool is_blocked(OrderKey key) const {
        return parked.contains(key) || is_held(key);
    }
};

// A log in memory, cut into lanes like that of a large database: any number of stores may claim
// from it side by side. Everything is guarded by one mutex; no call waits for anything but that.
class MemoryDatabase final : public StoreDriver,
                             public std::enable_shared_from_this<MemoryDatabase> {
public:
    struct Options {
        std::size_t lanes = 1;
        std::size_t lanes_per_claim = 0;  // 0: all that are free
    };
    MemoryDatabase(Options options, std::shared_ptr<Clock> clock)
        : options_(options),
          clock_(std::move(clock)),
          lane_rows_(options.lanes) {}

    // Appends the messages of one transaction, all of them now.
    void commit(std::vector<Message> messages);

    [[nodiscard]] Result<std::unique_ptr<Store>> open(const Destination& destination) override;
    [[nodiscard]] Result<std::unique_ptr<Logbook>> open_logbook(
        const Destination& destination,
        std::uint64_t session
    ) override;
    [[nodiscard]] Result<std::unique_ptr<StoreAdmin>> open_admin(IfMissing if_missing) override;
    [[nodiscard]] std::unique_ptr<Waker> make_waker(Observer& observer) override;

    // Frees what a dead connection had locked, as a server does some time after it died. The
    // store's unsettled batch can no longer be settled.
    void sever(Store& store);

    // A message of the log that has not been cleaned away, for tests.
    [[nodiscard]] std::size_t log_size() const;

private:
    friend class MemoryStoreConnection;
    friend class MemoryAdmin;
    friend class MemoryLogbook;
    class BellHandle;

    // Fills in the state of a destination that is new, with the mutex held.
    void introduce(DestinationState& state, const Destination& destination) const;
    [[nodiscard]] std::uint32_t lane_of(const Message& message, std::int64_t seq) const;

    const Options options_;
    const std::shared_ptr<Clock> clock_;
    mutable std::mutex mutex_;
    std::int64_t last_seq_ = 0;
    std::map<std::int64_t, LogRowPtr> log_;
    std::vector<std::map<std::int64_t, LogRowPtr>> lane_rows_;
    std::map<std::string, DestinationState, std::less<>> destinations_;
    std::set<Bell*> bells_;
    TopicLists lists_;
};

}  // namespace outrider
