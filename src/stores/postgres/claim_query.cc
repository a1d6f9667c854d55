#include "stores/postgres/claim_query.h"

#include <algorithm>
#include <limits>

#include "stores/postgres/sql.h"
#include "stores/postgres/status.h"

namespace outrider::postgres {
namespace {

// A session that is idle in its transaction for longer than the broker may take has been frozen:
// its lanes are freed by the server this much later.
constexpr Duration kFreezeMargin = std::chrono::seconds(5);

constexpr std::int64_t kRowsPerLaneMin = 64;

// Claims that go on weighing after the last large row: whoever stops too early reads in vain.
constexpr int kWeighedClaims = 64;

// As a setting of the server, which is an integer of 32 bits.
std::string millis(Duration duration) {
    const auto count = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    return std::to_string(std::min<std::int64_t>(count, kMost));
}

void unite(std::string& all, const std::string& branch) {
    all += all.empty() ? branch : " union all " + branch;
}

// For a destination that orders across lanes.
std::string over_all_lanes(const std::string& branch, std::int64_t lanes) {
    return "(select r.* from generate_series(0, " + std::to_string(lanes - 1) +
           ") as a(lane) cross join lateral " + branch + " r order by seq limit $2)";
}

}  // namespace

ClaimQuery::ClaimQuery(
    const Names& names,
    const StoreOptions& options,
    const Destination& destination,
    const Registered& registered
)
    : names_(names),
      options_(options),
      destination_(destination),
      registered_(registered),
      patterns_(like_patterns(destination.topics)),
      topics_(topics_json(destination.topics)) {
    for (const std::string& topic : destination.topics) takes_all_ = takes_all_ || topic == "*";
    write();
}

ClaimReader::Limits ClaimQuery::limits(
    const BatchLimits& asked,
    std::size_t parked,
    std::int64_t lanes
) {
    const auto messages = static_cast<std::int64_t>(asked.messages);
    const auto bytes = static_cast<std::int64_t>(asked.bytes);
    ClaimReader::Limits limits;
    limits.lanes = lanes;
    limits.messages = messages;
    limits.parked = static_cast<std::int64_t>(parked);
    limits.parked_rows = limits.parked * 2;
    limits.parked_bytes = bytes / 2;
    // A lane may have all there is: a small batch is not cut into sixteen parts.
    limits.rows_per_lane = std::max(messages / lanes, std::min(messages, kRowsPerLaneMin));
    limits.bytes_per_lane = std::max<std::int64_t>(bytes / lanes, 1);
    limits.bytes_per_row = limits.bytes_per_lane / limits.rows_per_lane;
    return limits;
}

void ClaimQuery::use_segments(const std::set<int>& segments) {
    if (segments == segments_) return;
    segments_ = segments;
    write();
}

bool ClaimQuery::covers(const std::set<int>& segments) const {
    return std::includes(segments_.begin(), segments_.end(), segments.begin(), segments.end());
}

bool ClaimQuery::met(const Claim& claim) {
    if (claim.windows.empty()) return true;  // every lane was in other hands: nothing was seen
    const bool saw_all = (reads_parked_ || !claim.held) && (weighs() || !claim.large_row);
    reads_parked_ = claim.held;
    weighs_for_ = claim.large_row ? kWeighedClaims : std::max(weighs_for_ - 1, 0);
    write();
    return saw_all;
}

void ClaimQuery::write() {
    std::string name = "claim_log_";
    for (const int segment : segments_) name += std::to_string(segment);
    if (weighs()) name += "_weighed";
    if (reads_parked_) name += "_parked";
    if (name == log_name_) return;
    log_name_ = name;
    log_sql_ = log_sql();
}

std::string ClaimQuery::log_sql() const {
    std::string late;
    std::string late_lanes;
    std::string range;
    for (const int segment : segments_) {
        const auto branch = [&](std::string_view sql, std::string_view lane) {
            return Names::fill(Names::fill(sql, "segment", std::to_string(segment)), "lane", lane);
        };
        unite(late_lanes, branch(sql::claim_late_lanes, ""));
        const std::string_view of_lane = "{schema}.lane_of(m.key, m.seq) = w.lane";
        unite(late, branch(sql::claim_late, is_global() ? "true" : of_lane));
        const std::string one = branch(sql::claim_range, is_global() ? "a.lane" : "w.lane");
        unite(range, is_global() ? over_all_lanes(one, registered_.lanes) : one);
    }
    std::string sql = Names::fill(sql::claim_log, "late_lanes", late_lanes);
    sql = Names::fill(sql, "late", late);
    sql = Names::fill(sql, "range", range);
    sql = Names::fill(sql, "weight", weighs() ? sql::claim_weight_lane : sql::claim_weight_row);
    sql = Names::fill(sql, "bytes", sql::claim_bytes);
    sql = Names::fill(sql, "next_due", reads_parked_ ? sql::claim_next_due : "null::timestamptz");
    sql = Names::fill(sql, "blocked", reads_parked_ ? sql::claim_blocked : "false");
    return names_.fill(sql);
}

Parameters ClaimQuery::settings(bool local) const {
    const std::string patience = millis(destination_.publish_deadline + kFreezeMargin);
    return Parameters()
        .add(std::string_view(patience))
        .add(std::string_view(options_.settle == Settle::fast ? "off" : "on"))
        .add(std::string_view(patience))
        .add(local);
}

Result<void> ClaimQuery::set_up(const Connection& connection) const {
    const Result<Rows> done = connection.run(std::string(sql::claim_settings), settings(false));
    if (!done) return done.error();
    return {};
}

ClaimQuery::Places ClaimQuery::add(
    Pipeline& pipeline,
    const ClaimReader::Limits& limits,
    std::int64_t first,
    bool pooled
) const {
    Places places;
    std::size_t count = 0;
    const auto next = [&](const std::string& name, const std::string& sql, const Parameters& p) {
        pipeline.add(name, sql, p);
        return count++;
    };
    const std::int64_t lanes = is_global() ? 1 : registered_.lanes;
    ArrayText locks;
    ArrayText numbers;
    for (std::int64_t i = 0; i < lanes; ++i) {
        const std::int64_t lane = (first + i) % lanes;
        locks.add(lane_lock(names_, registered_.id, lane));
        numbers.add(lane);
    }
    next("begin", "begin isolation level read committed", {});
    if (pooled) next("claim_settings", std::string(sql::claim_settings), settings(true));
    places.lock = next(
        "claim_lock",
        std::string(sql::claim_lock),
        Parameters()
            .add(std::string_view(locks.text()))
            .add(std::string_view(numbers.text()))
            .add(limits.lanes)
    );
    if (reads_parked_) {
        places.due = next(
            "claim_due",
            names_.fill(Names::fill(sql::claim_due, "bytes", sql::claim_bytes)),
            Parameters()
                .add(registered_.id)
                .add(limits.parked)
                .add(limits.parked_rows)
                .add(limits.parked_bytes)
        );
    }
    places.log = next(
        log_name_,
        log_sql_,
        Parameters()
            .add(registered_.id)
            .add(limits.rows_per_lane)
            .add(std::string_view(patterns_))
            .add(weighs() ? limits.bytes_per_lane : limits.bytes_per_row)
            .add(is_global())
            .add(std::string_view(topics_))
            .add(takes_all_)
    );
    next("claim_end", std::string(sql::claim_end), {});
    return places;
}

}  // namespace outrider::postgres
