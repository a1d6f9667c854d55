#pragma once

#include <map>
#include <set>
#include <span>

#include "core/decide.h"
#include "stores/postgres/claim.h"
#include "stores/postgres/lane_moves.h"
#include "stores/postgres/names.h"
#include "stores/postgres/pipeline.h"

namespace outrider::postgres {

// Turns the settlements of a batch into the statements that write them. Adds them to a pipeline;
// commit is up to the caller.
class Settler {
public:
    Settler(
        const Connection& connection,
        Pipeline& pipeline,
        const Names& names,
        std::int64_t destination
    )
        : connection_(connection),
          pipeline_(pipeline),
          names_(names),
          destination_(destination) {}

    // `moves`: those of the settlements. Their statements are the last that are added.
    void add(
        const Batch& batch,
        const Claim& claim,
        std::span<const Settlement> settlements,
        const LaneMoves& moves
    );

private:
    // Arrays of what is parked or dies, by where the message lies: a segment, or 0 for the parked
    // ones.
    struct Waiting {
        ArrayText lanes, seqs, keys, attempts, refused_at, due_at, errors;
    };
    struct Dying {
        ArrayText lanes, seqs, keys, attempts, holds, errors;
    };

    void collect(const Envelope& envelope, int segment, const Settlement& settlement);
    void park(const Envelope& envelope, int segment, const Settlement& settlement);
    void bury(const Envelope& envelope, int segment, const Settlement& settlement);
    void add_parked();
    void add_dead();
    void add_keys();
    void add_cursors(const LaneMoves& moves, std::int64_t newest);
    [[nodiscard]] std::string statement(std::string_view sql, int segment) const;

    const Connection& connection_;
    Pipeline& pipeline_;
    const Names& names_;
    const std::int64_t destination_;
    std::map<int, Waiting> waiting_;
    std::map<int, Dying> dying_;
    ArrayText unparked_;
    bool unparks_ = false;
    std::set<OrderKey> touched_;
};

}  // namespace outrider::postgres
