#pragma once

#include <memory_resource>
#include <set>
#include <unordered_set>
#include <vector>

#include "outrider/destination.h"

#include "core/batch.h"
#include "core/topics.h"
#include "stores/postgres/connection.h"

namespace outrider::postgres {

// The window of one locked lane, as the claim found it.
struct LaneWindow {
    std::int16_t lane = 0;
    std::int64_t turn = 0;
    std::string snapshot;          // S
    std::int64_t floor = 0;        // its own
    std::int64_t upper = 0;        // the largest number when it was opened
    std::int64_t next_floor = 0;   // the sequence as the claim read it
    std::int64_t known_floor = 0;  // the sequence as the settle before read it
    std::int64_t last = 0;         // how far it was read before
    std::int64_t read_to = 0;      // the last number in this claim
    bool open = false;             // it was opened by an earlier turn
    bool work = false;             // it was read
    bool moves = false;            // it is worth a settle
    bool cut = false;              // not all of it is in the claim
    int rows = 0;
};

// Where a claimed message of the log lies.
struct Place {
    int segment = 0;
    std::int16_t lane = 0;
};

// What a claim holds: the server's own result memory, into which the envelopes point, and the
// lanes' windows. Who opened the transaction is told when it is dropped.
struct Claim final : Batch::Hold {
    std::vector<Rows> rows;
    std::pmr::monotonic_buffer_resource arena;
    std::vector<LaneWindow> windows;
    std::vector<Place> places;  // of each envelope
    std::set<int> segments;     // that may hold something for these lanes
    bool large_row = false;     // one row has more bytes than its share
    bool held = false;          // something of the destination is parked, or held by a dead letter
    bool paused = false;
};

// A column of claim_log.sql, in the row of a lane: the stored list of topics, if it is not ours.
inline constexpr int kStoredTopics = 6;

// Reads results of the claim's statements into a batch. Pure but for memory.
class ClaimReader {
public:
    struct Limits {
        std::int64_t lanes = 1;     // that the claim may lock
        std::int64_t messages = 0;  // in all
        std::int64_t parked = 0;    // of those, at most
        // The statements' own limits.
        std::int64_t parked_rows = 0;
        std::int64_t parked_bytes = 0;
        std::int64_t rows_per_lane = 0;
        std::int64_t bytes_per_lane = 0;
        std::int64_t bytes_per_row = 0;
    };
    ClaimReader(Order order, TopicFilter& filter, Limits limits, Batch& batch, Claim& claim)
        : order_(order),
          filter_(filter),
          limits_(limits),
          batch_(batch),
          claim_(claim) {}

    // In this order: the state of the lanes, what waited, what is new.
    void read_state(const Rows& log);
    void read_parked(const Rows& due);
    void read_log(const Rows& log);

private:
    void read_lane(const Rows& rows, int row);
    void read_segments(std::string_view text);
    void read_message(const Rows& rows, int row, LaneWindow& window);
    [[nodiscard]] Envelope read_common(const Rows& rows, int row, int first);
    [[nodiscard]] OrderKey order_key_of(const Rows& rows, int row, std::int64_t seq) const;

    const Order order_;
    TopicFilter& filter_;
    const Limits limits_;
    Batch& batch_;
    Claim& claim_;
    std::unordered_set<OrderKey> whole_chains_;
};

// What the server sends for jsonb: a version, then text.
[[nodiscard]] std::string_view jsonb_text(std::string_view bytes);

// Microseconds since 2000, as the server sends moments.
[[nodiscard]] WallTime from_server_time(std::int64_t micros);

}  // namespace outrider::postgres
