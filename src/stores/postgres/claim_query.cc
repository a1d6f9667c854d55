#include "stores/postgres/claim_query.h"

#include <algorithm>

#include "stores/postgres/lane_moves.h"
#include "stores/postgres/patience.h"
#include "stores/postgres/sql.h"
#include "stores/postgres/status.h"

namespace outrider::postgres {
namespace {

// What a claim looks at for each message of a batch, at least: rows of other lanes and topics lie
// in between, and those that were handled before. And whatever the batch: the most takes about half
// a second, and a claim that took longer than the session's patience would fail for ever.
constexpr std::int64_t kNumbersPerMessage = 256;
constexpr std::int64_t kNumbersMin = 1024;
constexpr std::int64_t kNumbersMax = 2'560'000;

// How many turns behind the newest a lane is looked for that was not met yet, and how much further
// if it is not there: to look at each takes 15 us.
constexpr std::int64_t kReachFirst = 64;
constexpr std::int64_t kReachGrows = 4096;

// Claims that go on weighing after the last large row: whoever stops too early reads in vain.
constexpr int kWeighedClaims = 64;

// The lanes that claim_lock.sql has locked, and a turn that all of them are taken to have reached.
// Selected, so that they are made once, and not for every lane.
constexpr std::string_view kLockedLanes =
    "(select current_setting('outrider.lanes')::smallint[])::smallint[]";
constexpr std::string_view kLeastTurn =
    "(select min(($7::bigint[])[l + 1]) from unnest(current_setting('outrider.lanes')::smallint[]) "
    "as l)";

void unite(std::string& all, const std::string& branch) {
    all += all.empty() ? branch : " union all " + branch;
}

}  // namespace

std::string with_short_values(std::string_view sql, std::string_view row) {
    std::string text = Names::fill(sql, "topic", sql::claim_topic);
    text = Names::fill(text, "key", sql::claim_key);
    text = Names::fill(text, "payload", sql::claim_payload);
    return Names::fill(text, "row", row);
}

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
      topics_(topics_json(destination.topics)),
      turns_(static_cast<std::size_t>(registered.lanes)),
      newest_(registered.newest),
      reach_(kReachFirst) {
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
    limits.bytes = bytes;
    limits.bytes_per_row = bytes / messages;
    limits.numbers = std::clamp(messages * kNumbersPerMessage, kNumbersMin, kNumbersMax);
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
    if (!remember(claim)) return false;
    if (claim.windows.empty()) return true;  // every lane was in other hands: nothing was seen
    const bool saw_all = (reads_parked_ || !claim.held) && (weighs() || !claim.large_row);
    reads_parked_ = claim.held;
    weighs_for_ = claim.large_row ? kWeighedClaims : std::max(weighs_for_ - 1, 0);
    write();
    return saw_all;
}

// A lane that is locked has a cursor. If it was not found, it is further behind than we thought, or
// even behind the turn that we know: the server has lost its last settles, and a pooler has hidden
// that from us.
bool ClaimQuery::remember(const Claim& claim) {
    const bool was_limited = is_limited();
    std::size_t found = 0;
    for (const Window& window : claim.windows) {
        for (const LaneCount& lane : window.lanes) {
            turns_.at(static_cast<std::size_t>(lane.lane)) = window.origin.turn;
            ++found;
        }
    }
    if (found > 0) newest_ = claim.newest;
    const bool found_all = found == claim.locked || !was_limited;
    reach_ = found_all ? kReachFirst : reach_ * kReachGrows;
    if (!found_all) std::fill(turns_.begin(), turns_.end(), 0);
    return found_all;
}

std::int64_t ClaimQuery::least_turn(std::int64_t known) const {
    return known > 0 ? known : std::max(newest_ - reach_, std::int64_t{0});
}

bool ClaimQuery::is_limited() const {
    return std::any_of(turns_.begin(), turns_.end(), [this](std::int64_t known) {
        return least_turn(known) > 0;
    });
}

void ClaimQuery::write() {
    std::string segments;
    for (const int segment : segments_) segments += std::to_string(segment);
    std::string name = "claim_log_" + segments;
    if (weighs()) name += "_weighed";
    if (reads_parked_) name += "_parked";
    if (name == log_name_) return;
    log_name_ = name;
    log_sql_ = log_sql();
    again_name_ = "claim_again_" + segments;
    again_sql_ = again_sql();
}

std::string ClaimQuery::log_sql() const {
    std::string sql = with_messages(sql::claim_log, "pg_visible_in_snapshot(m.xid, w.s)");
    sql = Names::fill(sql, "groups", sql::cursor_groups);
    sql = Names::fill(sql, "lanes", kLockedLanes);
    sql = Names::fill(sql, "least_turn", kLeastTurn);
    sql = Names::fill(sql, "all_lanes", std::to_string(registered_.lanes));
    sql = Names::fill(sql, "next_due", reads_parked_ ? sql::claim_next_due : "null::timestamptz");
    return names_.fill(sql);
}

std::string ClaimQuery::again_sql() const {
    const std::string segment = std::to_string(*segments_.begin());
    // Its window ends with the snapshot of the statement, which shows nothing else.
    return names_.fill(Names::fill(with_messages(sql::claim_again, "true"), "segment", segment));
}

std::string ClaimQuery::with_messages(std::string_view sql, std::string_view until) const {
    std::string range;
    for (const int segment : segments_) {
        unite(range, Names::fill(sql::claim_range, "segment", std::to_string(segment)));
    }
    std::string text = Names::fill(sql, "messages", sql::claim_messages);
    text = Names::fill(Names::fill(text, "range", range), "until", until);
    text = Names::fill(text, "weight", weighs() ? sql::claim_weight_all : sql::claim_weight_row);
    text = with_short_values(Names::fill(text, "bytes", sql::claim_bytes), "m");
    text = Names::fill(text, "blocked", reads_parked_ ? sql::claim_blocked : "null::boolean");
    text = Names::fill(text, "global", is_global() ? "true" : "false");
    return Names::fill(text, "takes_all", takes_all_ ? "true" : "false");
}

Parameters ClaimQuery::settings(bool local) const {
    const std::string patience = freeze_patience(destination_);
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

Parameters ClaimQuery::common(const ClaimReader::Limits& limits) const {
    return Parameters()
        .add(registered_.id)
        .add(limits.messages)
        .add(std::string_view(patterns_))
        .add(weighs() ? limits.bytes : limits.bytes_per_row)
        .add(std::string_view(topics_));
}

Parameters ClaimQuery::asked(const ClaimReader::Limits& limits) const {
    ArrayText turns;
    for (const std::int64_t known : turns_) turns.add(least_turn(known));
    return common(limits).add(limits.numbers).add(std::string_view(turns.text()));
}

Parameters ClaimQuery::told(const ClaimReader::Limits& limits, const KnownPlace& place) const {
    const Reach reach = reach_of(place.passed);
    ArrayText far;
    for (const std::uint64_t id : reach.far) far.add(static_cast<std::int64_t>(id));
    return common(limits)
        .add(place.origin.turn)
        .add(place.origin.first)
        .add(std::string_view(texts_of(place.lanes).lanes))
        .add(std::string_view(place.passed.snapshot))
        .add(reach.low)
        .add(reach.low + limits.numbers)
        .add(std::string_view(far.text()))
        .add(static_cast<std::int64_t>(place.lanes.size()) == registered_.lanes);
}

ClaimQuery::Places ClaimQuery::add(
    Pipeline& pipeline,
    const ClaimReader::Limits& limits,
    std::int64_t first,
    const std::optional<KnownPlace>& place,
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
            names_.fill(
                with_short_values(Names::fill(sql::claim_due, "bytes", sql::claim_bytes), "y")
            ),
            Parameters()
                .add(registered_.id)
                .add(limits.parked)
                .add(limits.parked_rows)
                .add(limits.parked_bytes)
        );
    }
    places.log = place ? next(again_name_, again_sql_, told(limits, *place))
                       : next(log_name_, log_sql_, asked(limits));
    next("claim_end", std::string(sql::claim_end), {});
    return places;
}

}  // namespace outrider::postgres
