#pragma once

#include <optional>
#include <set>
#include <string>

#include "stores/postgres/claim.h"
#include "stores/postgres/options.h"
#include "stores/postgres/pipeline.h"
#include "stores/postgres/registration.h"

namespace outrider::postgres {

// The text with {topic}, {key} and {payload} of a row, and no more of them than shows that they are
// too long.
[[nodiscard]] std::string with_short_values(std::string_view sql, std::string_view row);

// The statements of a claim, as they have to be just now: which segments they name, whether they
// look at what is parked, and whether they add up the bytes of what they read. Most logs hold small
// messages, nothing of them parked, and then a claim costs half.
class ClaimQuery {
public:
    // Results of the statements, by their places in the pipeline.
    struct Places {
        std::size_t lock = 0;
        std::size_t due = 0;  // none: 0
        std::size_t log = 0;
    };

    ClaimQuery(
        const Names& names,
        const StoreOptions& options,
        const Destination& destination,
        const Registered& registered
    );

    // What the statements may return. `parked`: messages that waited, `lanes`: to be locked.
    [[nodiscard]] static ClaimReader::Limits limits(
        const BatchLimits& asked,
        std::size_t parked,
        std::int64_t lanes
    );

    // What holds for the whole session. To be run once, unless a pooler stands in between.
    [[nodiscard]] Result<void> set_up(const Connection& connection) const;

    // Lanes are tried in turn from the `first`. `place`: where they stand, if that is known.
    [[nodiscard]] Places add(
        Pipeline& pipeline,
        const ClaimReader::Limits& limits,
        std::int64_t first,
        const std::optional<KnownPlace>& place,
        bool pooled
    ) const;

    // Whether a claim may be told where its lanes stand: not where more than the newest messages
    // of one segment have to be looked at.
    [[nodiscard]] bool may_be_told() const {
        return segments_.size() == 1 && !reads_parked_ && !weighs() && !is_global();
    }

    // Names these segments from now on. A turn keeps a lock on every segment it names until it
    // commits, and a truncation has to wait for that.
    void use_segments(const std::set<int>& segments);
    [[nodiscard]] bool covers(const std::set<int>& segments) const;

    // Told what a claim met. False: it has missed something, so that it has to be made again, with
    // the statements as they are now. What was met once is looked for until it is gone: parked
    // messages until nothing is parked, large rows for some claims more.
    [[nodiscard]] bool met(const Claim& claim);

    // Whether it asks only for cursors that have reached a turn: one that is not found may be
    // there.
    [[nodiscard]] bool is_limited() const;

private:
    void write();
    [[nodiscard]] bool remember(const Claim& claim);
    [[nodiscard]] std::int64_t least_turn(std::int64_t known) const;
    [[nodiscard]] std::string log_sql() const;
    [[nodiscard]] std::string again_sql() const;
    // `until`: whether a row m lies before the end of its window.
    [[nodiscard]] std::string with_messages(std::string_view sql, std::string_view until) const;
    [[nodiscard]] Parameters common(const ClaimReader::Limits& limits) const;
    [[nodiscard]] Parameters asked(const ClaimReader::Limits& limits) const;
    [[nodiscard]] Parameters told(const ClaimReader::Limits& limits, const KnownPlace& place) const;
    [[nodiscard]] Parameters settings(bool local) const;
    [[nodiscard]] bool weighs() const { return weighs_for_ > 0; }
    [[nodiscard]] bool is_global() const { return destination_.order == Order::global; }

    const Names& names_;
    const StoreOptions& options_;
    const Destination& destination_;
    const Registered registered_;
    std::string patterns_;  // of the topics, for LIKE
    std::string topics_;    // as the database has them
    bool takes_all_ = false;
    std::vector<std::int64_t> turns_;  // at which each lane was last met, or 0
    std::int64_t newest_;              // turn of the destination that was met
    std::int64_t reach_;               // how far behind it a lane is looked for that was not met
    std::set<int> segments_ = {1};
    bool reads_parked_ = true;
    int weighs_for_ = 0;    // so many claims more
    std::string log_name_;  // of claim_log.sql with its branches
    std::string log_sql_;
    std::string again_name_;  // the same of claim_again.sql
    std::string again_sql_;
};

}  // namespace outrider::postgres
