#pragma once

#include <memory_resource>
#include <unordered_set>

#include "outrider/destination.h"

#include "core/batch.h"
#include "core/result.h"
#include "core/topics.h"
#include "stores/shared/parked_share.h"
#include "stores/sqlite/connection.h"

namespace outrider::sqlite {

struct StoreStatements;

// What a claim keeps: the memory of its messages, and from where to where it read.
struct Claim final : Batch::Hold {
    std::pmr::monotonic_buffer_resource arena{64U << 10U};
    std::int64_t position = 0;  // the cursor when it began
    std::int64_t scanned = 0;   // the last number read
    std::string scanned_id;     // the id of that row; empty if none was read
    std::int64_t turn = 0;
    std::string topics;  // of the destination, as the database has them
};

// Everything behind `from` up to `seq` was read and is of other topics. Remembered, so that not
// every such message costs a commit. It holds for a cursor in between, and for the log it was read
// from: a database that was restored gives the same numbers to other messages, which the id tells.
struct Passed {
    std::int64_t from = 0;
    std::int64_t seq = 0;
    std::string id;  // of the row `seq`
};

// Whether the log still has the row up to which was read. Clean-up cannot have removed it while it
// lies behind the cursor's place.
[[nodiscard]] Result<bool> is_known(Statement& known, std::int64_t seq, std::string_view id);

// Reads what is due for a destination, inside a read transaction.
class ClaimReader {
public:
    ClaimReader(StoreStatements& statements, std::int64_t id, Order order, TopicFilter& filter)
        : statements_(statements),
          id_(id),
          order_(order),
          filter_(filter) {}

    [[nodiscard]] Result<void> read(
        const BatchLimits& limits,
        const Passed& passed,
        ParkedShare& share,
        Batch& batch,
        Claim& claim
    );

private:
    [[nodiscard]] Result<bool> read_cursor();
    [[nodiscard]] Result<void> skip(const Passed& passed);
    [[nodiscard]] Result<void> read_parked(std::size_t limit);
    [[nodiscard]] Result<void> read_chain(OrderKey key, std::size_t limit);
    [[nodiscard]] Result<void> read_next_due();
    [[nodiscard]] Result<void> read_log(std::size_t limit);
    [[nodiscard]] Result<bool> is_blocked(OrderKey key);
    [[nodiscard]] Envelope read_message(const Statement& row);

    // Whether the message still fits; if not, the batch is full.
    [[nodiscard]] bool add(const Envelope& envelope, std::size_t limit);

    StoreStatements& statements_;
    const std::int64_t id_;
    const Order order_;
    TopicFilter& filter_;
    Batch* batch_ = nullptr;
    Claim* claim_ = nullptr;
    std::size_t bytes_left_ = 0;
    bool has_held_keys_ = false;
    std::unordered_set<OrderKey> whole_chains_;
};

}  // namespace outrider::sqlite
