#pragma once

#include <map>
#include <memory_resource>
#include <set>
#include <span>
#include <unordered_set>
#include <vector>

#include "outrider/destination.h"

#include "core/batch.h"
#include "core/topics.h"
#include "stores/postgres/connection.h"
#include "stores/postgres/passed.h"

namespace outrider::postgres {

// A locked lane, and what was delivered in it so far.
struct LaneCount {
    std::int16_t lane = 0;
    std::int64_t delivered = 0;
};

// The row of {schema}.progress that says where lanes stand: its turn, and the first of its lanes.
struct Origin {
    std::int64_t turn = 0;
    std::int64_t first = 0;

    [[nodiscard]] bool operator==(const Origin&) const = default;
};

// The window of locked lanes that stand together, as the claim found it.
struct Window {
    Origin origin;
    std::vector<LaneCount> lanes;               // ascending
    Passed passed;                              // what was handled before it
    std::string snapshot;                       // S
    std::int64_t floor = 0;                     // its own
    std::uint64_t floor_by = Later().floor_by;  // who wrote that
    std::int64_t upper = 0;                     // the largest number when it was opened
    std::int64_t next_floor = 0;                // the sequence as the claim read it
    std::int64_t known_floor = 0;               // the sequence as the settle before read it
    std::int64_t last = 0;                      // how far it was read before
    std::int64_t low = 0;                       // where this claim began to look
    std::int64_t top = 0;                       // how far it did
    std::int64_t limit = 0;                     // of its rows
    std::int64_t rows = 0;                      // in this claim
    std::int64_t read_to = 0;                   // by this claim
    bool open = false;                          // it was opened by an earlier turn
    bool work = false;                          // it was read
    bool lags = false;                          // a segment waits for it
    bool cut = false;                           // not all of it is in the claim

    // Whether it is worth a settle, of all its lanes: those without rows would fall behind the
    // others, and have to be read by themselves (latency at half load: 2.5 ms instead of 1.7).
    [[nodiscard]] bool moves() const;

    [[nodiscard]] Later later() const { return {snapshot, floor, floor_by}; }
};

// Lanes that a settle of ours has left together, with no window open. If nobody has touched them
// since, the next claim need not look up where they stand.
struct KnownPlace {
    Origin origin;
    std::vector<LaneCount> lanes;                    // ascending
    Passed passed;                                   // what they have handled
    std::int64_t next_floor = 0;                     // of the window that opens there
    std::uint64_t next_floor_by = Later().floor_by;  // who wrote that
};

// What a claim holds: the server's own result memory, into which the envelopes point, and the
// lanes' windows. Who opened the transaction is told when it is dropped.
struct Claim final : Batch::Hold {
    std::vector<Rows> rows;
    std::pmr::monotonic_buffer_resource arena;
    std::vector<Window> windows;
    std::size_t locked = 0;   // lanes
    std::int64_t newest = 0;  // turn of the destination
    std::vector<int> places;  // the segment of each envelope; of a parked one, 0
    std::set<int> segments;   // that may hold something for these lanes
    bool large_row = false;   // one row has more bytes than its share
    bool held = false;        // something of the destination is parked, or held by a dead letter
    bool paused = false;
};

// A column of claim_log.sql, in the row of a window: the stored list of topics, if it is not ours.
inline constexpr int kStoredTopics = 4;

// Reads results of the claim's statements into a batch. Pure but for memory.
class ClaimReader {
public:
    struct Limits {
        std::int64_t lanes = 1;     // that the claim may lock
        std::int64_t messages = 0;  // in all
        std::int64_t bytes = 0;     // in all
        std::int64_t parked = 0;    // of those messages, at most
        // The statements' own limits.
        std::int64_t parked_rows = 0;
        std::int64_t parked_bytes = 0;
        std::int64_t bytes_per_row = 0;
        std::int64_t numbers = 0;  // that the claim looks at
    };
    // `origin`: of the log's ids.
    ClaimReader(
        std::int64_t origin,
        Order order,
        TopicFilter& filter,
        Limits limits,
        Batch& batch,
        Claim& claim
    )
        : origin_(origin),
          order_(order),
          filter_(filter),
          limits_(limits),
          batch_(batch),
          claim_(claim) {}

    // In this order: the windows, what waited, what is new.
    void read_state(const Rows& log);
    // Instead, of claim_again.sql. No window: the lanes `locked` are others, or not where they
    // were.
    void read_again(const Rows& log, const KnownPlace& place, std::span<const std::int64_t> locked);
    void read_parked(const Rows& due);
    void read_log(const Rows& log);

private:
    void read_window(const Rows& rows, int row);
    void read_message(const Rows& rows, int row);
    void close(Window& window);
    [[nodiscard]] Envelope read_common(const Rows& rows, int row, int first);
    [[nodiscard]] OrderKey order_key_of(const Rows& rows, int row, std::int64_t seq) const;

    const std::int64_t origin_;
    const Order order_;
    TopicFilter& filter_;
    const Limits limits_;
    Batch& batch_;
    Claim& claim_;
    std::unordered_set<OrderKey> whole_chains_;
    std::map<std::int64_t, std::size_t> lanes_;  // the window of each
};

// What the server sends for jsonb: a version, then text.
[[nodiscard]] std::string_view jsonb_text(std::string_view bytes);

// Microseconds since 2000, as the server sends moments.
[[nodiscard]] WallTime from_server_time(std::int64_t micros);

}  // namespace outrider::postgres
