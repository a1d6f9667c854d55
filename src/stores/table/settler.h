#pragma once

#include <map>
#include <span>

#include "core/decide.h"
#include "stores/postgres/pipeline.h"
#include "stores/table/claim.h"
#include "stores/table/statements.h"

namespace outrider::table {

// Turns the settlements of a batch into the statements that write them. Adds them to a pipeline;
// commit is up to the caller. What was delivered comes first, and what was refused behind a
// savepoint: a row whose error cannot be written must not undo what others were acknowledged.
class Settler {
public:
    Settler(
        const postgres::Connection& connection,
        postgres::Pipeline& pipeline,
        const Statements& statements,
        const Wording& wording,
        const Destination& destination
    )
        : connection_(connection),
          pipeline_(pipeline),
          statements_(statements),
          wording_(wording),
          destination_(destination) {}

    // `at_once`: what the table checks only at commit, it checks behind what was delivered.
    void add(const Claim& claim, std::span<const Settlement> settlements, bool at_once = false);

    // After a settle that failed behind the savepoint: keeps what came before it. An error: it
    // failed before, or nothing was refused, and there is nothing to keep.
    [[nodiscard]] Result<void> keep_done() const;

private:
    // Arrays of what is settled in one part of the table.
    struct Done {
        postgres::ArrayText tids;
        std::int64_t count = 0;
    };
    struct Failed {
        postgres::ArrayText tids, attempts, errors, dues, deads;
        std::int64_t count = 0;
    };

    [[nodiscard]] bool has_failed() const {
        return !failed_.empty() && !statements_.failed.empty();
    }
    void collect_failed(const Place& place, const Settlement& settlement);
    void add_done(std::int64_t part, const Done& done);
    void add_failed(std::int64_t part, const Failed& failed);

    const postgres::Connection& connection_;
    postgres::Pipeline& pipeline_;
    const Statements& statements_;
    const Wording& wording_;
    const Destination& destination_;
    std::map<std::int64_t, Done> done_;
    std::map<std::int64_t, Failed> failed_;
};

}  // namespace outrider::table
