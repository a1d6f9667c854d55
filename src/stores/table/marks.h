#pragma once

#include <span>
#include <vector>

#include "core/batch.h"
#include "core/decide.h"
#include "stores/table/settler.h"

namespace outrider::table {

// The savepoint behind which a batch is settled once a table has refused a mark.
constexpr const char* kBeforeMarks = "savepoint outrider_claim";

// Whether the table itself said no to what was written: a trigger, a rule, a policy, a check. Not:
// a connection that is lost, a server that is full or stopping, a lock that somebody else has.
[[nodiscard]] bool is_refusal(const Error& error);

// Finds out which delivered rows of a batch the table does not let us mark. Marks all of them, then
// halves, and halves of halves, and undoes every try. Starts from a transaction that has failed
// behind kBeforeMarks, and leaves it as it was there, with all rows still locked. `settler`: one
// that has nothing to write yet.
class MarkSearch {
public:
    MarkSearch(
        const postgres::Connection& connection,
        postgres::Pipeline& pipeline,
        const Settler& settler,
        const Claim& claim
    )
        : connection_(connection),
          pipeline_(pipeline),
          settler_(settler),
          claim_(claim) {}

    // Which envelopes, in their order. An error: the transaction is lost, and what failed was
    // something else.
    [[nodiscard]] Result<std::vector<std::size_t>> run(std::span<const Settlement> settlements);

private:
    [[nodiscard]] Result<void> split(std::span<const std::size_t> rows);
    [[nodiscard]] Result<bool> takes(std::span<const std::size_t> rows);
    [[nodiscard]] Result<void> undo() const;

    const postgres::Connection& connection_;
    postgres::Pipeline& pipeline_;
    const Settler settler_;
    const Claim& claim_;
    std::vector<std::size_t> refused_;
};

// The settlements that are left when these envelopes cannot be marked. They will be delivered
// again, and a repeat must not come after what follows it: where failures block, nothing behind
// them in their keys is settled either.
[[nodiscard]] std::vector<Settlement> without(
    std::span<const std::size_t> unmarked,
    const Batch& batch,
    std::span<const Settlement> settlements,
    const Destination& destination
);

// What to tell when the table has refused a mark, and nothing was settled.
[[nodiscard]] Error unmarked_batch(const Error& why);

// What to tell when these could not be marked, and the others were.
[[nodiscard]] Error unmarked_rows(
    std::span<const std::size_t> unmarked,
    const Claim& claim,
    std::span<const Settlement> settlements,
    const Error& why
);

}  // namespace outrider::table
