#pragma once

#include <map>
#include <memory_resource>
#include <set>
#include <string>
#include <vector>

#include "outrider/destination.h"

#include "core/batch.h"
#include "stores/postgres/connection.h"
#include "stores/table/held.h"

namespace outrider::table {

// A dead letter that holds its key is remembered for this long. Reviews come more often.
constexpr Duration kHoldingLook = std::chrono::seconds(2);

// Where a claimed row lies, and what it is called.
struct Place {
    std::string_view tid;   // "(0,1)"
    std::int64_t part = 0;  // the table, or the partition
    std::string_view id;
};

// What a claim holds: the server's own result memory, into which the envelopes point.
struct Claim {
    std::vector<postgres::Rows> rows;
    std::pmr::monotonic_buffer_resource arena;
    std::vector<Place> places;  // of each envelope

    // Keys that have been looked at: ours, somebody else's, or waiting.
    std::set<std::string, std::less<>> keys;
    bool key_elsewhere = false;
};

// Whether a row that cannot go out holds back what follows it.
[[nodiscard]] inline bool blocks(const Destination& destination) {
    return destination.order != Order::none && destination.on_failure == OnFailure::block;
}

// Reads rows of claim_rows.sql and claim_free.sql into a batch. A row that must wait is remembered
// with its key, and nothing of that key is taken behind it.
class ClaimReader {
public:
    ClaimReader(
        const Destination& destination,
        const BatchLimits& limits,
        Held& held,
        Batch& batch,
        Claim& claim
    )
        : destination_(destination),
          limits_(limits),
          held_(held),
          batch_(batch),
          claim_(claim) {}

    // Only these ids may be taken; a row between them holds back its key. Empty: all.
    void choose(const std::vector<std::string>& ids) { chosen_ = {ids.begin(), ids.end()}; }

    // `now`: the moment on the monotonic clock at which the rows came. `first`: the number of the
    // first envelope. Returns the bytes taken.
    std::size_t read(postgres::Rows rows, MonoTime now, std::int64_t first);

private:
    [[nodiscard]] bool may_go(const postgres::Rows& rows, int row, MonoTime now);
    void wait(const postgres::Rows& rows, int row, MonoTime until);
    [[nodiscard]] Envelope read_row(const postgres::Rows& rows, int row, std::int64_t seq);
    [[nodiscard]] OrderKey order_key_of(std::string_view key, std::int64_t seq) const;

    const Destination& destination_;
    const BatchLimits limits_;
    Held& held_;
    Batch& batch_;
    Claim& claim_;
    std::set<std::string, std::less<>> chosen_;
    bool any_held_ = false;
    std::set<std::string, std::less<>> stopped_;  // keys that have ended in this claim
};

}  // namespace outrider::table
