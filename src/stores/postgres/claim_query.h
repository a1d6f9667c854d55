#pragma once

#include <set>
#include <string>

#include "stores/postgres/claim.h"
#include "stores/postgres/options.h"
#include "stores/postgres/pipeline.h"
#include "stores/postgres/registration.h"

namespace outrider::postgres {

// The statements of a claim, as they have to be just now: which segments they name, and whether
// they add up the bytes of what they read.
class ClaimQuery {
public:
    // Results of the statements, by their places in the pipeline.
    static constexpr std::size_t kLock = 2;
    static constexpr std::size_t kDue = 3;
    static constexpr std::size_t kLog = 4;

    ClaimQuery(
        const Names& names,
        const StoreOptions& options,
        const Destination& destination,
        const Registered& registered
    );

    // What the statements may return. `lanes`: to be locked.
    [[nodiscard]] ClaimReader::Limits limits(const BatchLimits& asked, std::int64_t lanes) const;

    // Lanes are tried in turn from the `first`.
    void add(Pipeline& pipeline, const ClaimReader::Limits& limits, std::int64_t first) const;

    // Names these segments from now on. A turn keeps a lock on every segment it names until it
    // commits, and a truncation has to wait for that.
    void use_segments(const std::set<int>& segments);
    [[nodiscard]] bool covers(const std::set<int>& segments) const;

    // Told whether a claim met a row that is larger than its share. While none has for long, each
    // row has a limit of its own; the sum over a lane costs a quarter of the claim (0.5 of 2
    // microseconds a message). False: what was read is not to be used, since rows are missing.
    [[nodiscard]] bool met(bool large_row);

private:
    void write();
    [[nodiscard]] std::string log_sql() const;
    [[nodiscard]] bool is_global() const { return destination_.order == Order::global; }

    const Names& names_;
    const StoreOptions& options_;
    const Destination& destination_;
    const Registered registered_;
    std::string patterns_;  // of the topics, for LIKE
    std::string topics_;    // as the database has them
    bool takes_all_ = false;
    std::set<int> segments_ = {1};
    int weighs_for_ = 0;    // so many claims more
    std::string log_name_;  // of claim_log.sql with its branches
    std::string log_sql_;
};

}  // namespace outrider::postgres
