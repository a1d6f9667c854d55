#include "stores/postgres/status.h"

#include <algorithm>
#include <bit>

#include "core/topics.h"
#include "stores/postgres/claim.h"
#include "stores/postgres/registration.h"
#include "stores/postgres/sql.h"
#include "stores/shared/topic_list.h"

namespace outrider::postgres {
namespace {

constexpr std::int64_t kPendingMax = 10'000;
constexpr std::int64_t kTopicRowsMax = 50'000;

// As for a claim: by the indexes, whatever the statistics say. And a compiler that takes half a
// second is no help.
constexpr const char* kPinned =
    "begin; set local jit = off; set local enable_seqscan = off; set local enable_bitmapscan = off";

double number(const Rows& rows, int row, int column) {
    return std::bit_cast<double>(rows.integer(row, column));
}

DestinationStatus read_destination(const Rows& rows, int row) {
    DestinationStatus status;
    status.name = rows.bytes(row, 1);
    status.topics = read_topics(rows.bytes(row, 2));
    status.paused = rows.boolean(row, 3);
    status.circuit = rows.bytes(row, 4) == to_string(CircuitState::open) ? CircuitState::open
                                                                         : CircuitState::closed;
    status.circuit_reason = rows.bytes(row, 5);
    status.parked = static_cast<std::uint64_t>(rows.integer(row, 6));
    status.blocked_keys = static_cast<std::uint64_t>(rows.integer(row, 7));
    status.dead = static_cast<std::uint64_t>(rows.integer(row, 8));
    status.delivered = static_cast<std::uint64_t>(rows.integer(row, 9));
    status.rate = std::max(number(rows, row, 10), 0.0);
    status.parked_reason = rows.bytes(row, 11);
    return status;
}

// From a row with a count and the moment of the oldest.
Result<void> set_pending(
    const Connection& connection,
    const Names& names,
    const Rows& counted,
    DestinationStatus& status
) {
    status.pending = static_cast<std::uint64_t>(counted.integer(0, 0));
    if (counted.is_null(0, 1)) return {};
    const Result<Rows> now = connection.run(names.fill("select {now}"));
    if (!now) return now.error();
    const Duration age =
        from_server_time(now->integer(0, 0)) - from_server_time(counted.integer(0, 1));
    status.oldest_pending_age = std::max(age, Duration::zero());
    return {};
}

Result<void> count_pending(
    const Connection& connection,
    const Names& names,
    std::int64_t id,
    DestinationStatus& status
) {
    const Result<Rows> pending = read_pending(
        connection,
        names,
        sql::status_pending,
        {.whole =
             "(c.whole or (select ordering = 'global' from {schema}.destination where id = $1))",
         .topics = "$2",
         .limit = "$3 * cardinality(c.lanes)"},
        Parameters().add(id).add(std::string_view(like_patterns(status.topics))).add(kPendingMax)
    );
    if (!pending) return pending.error();
    return set_pending(connection, names, *pending, status);
}

Result<DestinationStatus> count_newcomer(
    const Connection& connection,
    const Names& names,
    const Destination& destination
) {
    DestinationStatus status;
    status.name = destination.name;
    status.topics = destination.topics;
    if (destination.start == Start::now) return status;
    const Result<Rows> pending = connection.run(
        names.fill(sql::status_newcomer),
        Parameters().add(std::string_view(like_patterns(status.topics))).add(kPendingMax)
    );
    if (!pending) return pending.error();
    if (Result<void> set = set_pending(connection, names, *pending, status); !set)
        return set.error();
    return status;
}

// The keys of all its lanes' locks, as an array.
Result<std::string> lane_locks(const Connection& connection, const Names& names, std::int64_t id) {
    const Result<Rows> lanes = connection.run(names.fill("select lanes from {schema}.setting"));
    if (!lanes) return lanes.error();
    ArrayText locks;
    for (std::int64_t lane = 0; lane < lanes->integer(0, 0); ++lane) {
        locks.add(lane_lock(names, id, lane));
    }
    return locks.text();
}

// The text with {is_locked} asking for these locks.
std::string with_is_locked(std::string_view sql, std::string_view locks) {
    return Names::fill(sql, "is_locked", Names::fill(sql::is_locked, "locks", locks));
}

// By what relays hold, taking nothing: whoever looks must not stand in their way.
Result<bool> is_served(const Connection& connection, const Names& names, std::int64_t id) {
    Result<std::string> lanes = lane_locks(connection, names, id);
    if (!lanes) return lanes.error();
    const Result<Rows> held = connection.run(
        with_is_locked(sql::status_served, "$1::bigint || $2::bigint[]"),
        Parameters().add(serving_lock(names, id)).add(std::string_view(*lanes))
    );
    if (!held) return held.error();
    return held->boolean(0, 0);
}

bool takes_everything(const DestinationStatus& status) {
    return std::find(status.topics.begin(), status.topics.end(), "*") != status.topics.end();
}

Result<void> read_unrouted(const Connection& connection, const Names& names, Backlog& backlog) {
    const std::vector<DestinationStatus>& all = backlog.destinations;
    if (std::any_of(all.begin(), all.end(), takes_everything)) return {};
    const Result<Rows> topics =
        connection.run(names.fill(sql::status_topics), Parameters().add(kTopicRowsMax));
    if (!topics) return topics.error();
    for (int row = 0; row < topics->count(); ++row) {
        const std::string topic(topics->bytes(row, 0));
        bool taken = false;
        for (const DestinationStatus& status : backlog.destinations) {
            taken = taken || matches_any(status.topics, topic);
        }
        if (taken) continue;
        backlog.unrouted.push_back({topic, static_cast<std::uint64_t>(topics->integer(row, 1))});
    }
    return {};
}

}  // namespace

Result<Rows> read_pending(
    const Connection& connection,
    const Names& names,
    std::string_view sql,
    const PendingOf& of,
    const Parameters& parameters
) {
    std::string text = Names::fill(sql, "pending", sql::pending);
    text = Names::fill(Names::fill(text, "topics", of.topics), "limit", of.limit);
    text = Names::fill(Names::fill(text, "whole", of.whole), "groups", sql::cursor_groups);
    text = Names::fill(text, "least_turn", "0");
    text = Names::fill(text, "numbers", std::to_string(of.numbers));
    text = Names::fill(text, "all_lanes", "(select lanes from {schema}.setting)");
    text = Names::fill(
        text, "lanes", "array(select generate_series(0, lanes - 1) from {schema}.setting)"
    );
    if (Result<void> begun = connection.run_script(kPinned); !begun) return begun.error();
    Result<Rows> rows = connection.run(names.fill(text), parameters);
    const Result<void> ended = connection.run_script("rollback");
    if (rows && !ended) return ended.error();
    return rows;
}

Result<std::optional<std::string>> served_destination(
    const Connection& connection,
    const Names& names
) {
    const Result<Rows> all =
        connection.run(names.fill("select id, name from {schema}.destination"));
    if (!all) return all.error();
    for (int row = 0; row < all->count(); ++row) {
        const Result<bool> served = is_served(connection, names, all->integer(row, 0));
        if (!served) return served.error();
        if (*served) return std::optional(std::string(all->bytes(row, 1)));
    }
    return std::optional<std::string>();
}

std::string like_pattern(std::string_view glob) {
    std::string pattern;
    for (const char c : glob) {
        if (c == '%' || c == '_' || c == '\\') pattern += '\\';
        pattern += c == '*' ? '%' : c;
    }
    return pattern;
}

std::string like_patterns(const std::vector<std::string>& globs) {
    ArrayText patterns;
    for (const std::string& glob : globs) patterns.add(std::string_view(like_pattern(glob)));
    return patterns.text();
}

Result<bool> lock_all_lanes(
    const Connection& connection,
    const Names& names,
    std::int64_t destination
) {
    Result<std::string> locks = lane_locks(connection, names, destination);
    if (!locks) return locks.error();
    const Result<Rows> taken = connection.run(
        with_is_locked(sql::lock_all_lanes, "array[$1::bigint]"),
        Parameters().add(serving_lock(names, destination)).add(std::string_view(*locks))
    );
    if (taken) return true;
    if (taken.error().native_code == native_code_of("55P03")) return false;
    return taken.error();
}

Result<Backlog> read_backlog(
    const Connection& connection,
    const Names& names,
    const std::vector<Destination>& expected
) {
    const Result<Rows> rows = connection.run(names.fill(sql::status_destinations));
    if (!rows) return rows.error();
    Backlog backlog;
    for (int row = 0; row < rows->count(); ++row) {
        DestinationStatus status = read_destination(*rows, row);
        const std::int64_t id = rows->integer(row, 0);
        if (Result<void> done = count_pending(connection, names, id, status); !done)
            return done.error();
        const Result<bool> served = is_served(connection, names, id);
        if (!served) return served.error();
        status.relay_running = *served;
        backlog.destinations.push_back(std::move(status));
    }
    for (const Destination& destination : expected) {
        const bool known = std::any_of(
            backlog.destinations.begin(),
            backlog.destinations.end(),
            [&](const auto& status) { return status.name == destination.name; }
        );
        if (known) continue;
        Result<DestinationStatus> status = count_newcomer(connection, names, destination);
        if (!status) return status.error();
        backlog.destinations.push_back(std::move(status).value());
    }
    std::sort(
        backlog.destinations.begin(),
        backlog.destinations.end(),
        [](const auto& a, const auto& b) { return a.name < b.name; }
    );
    if (Result<void> done = read_unrouted(connection, names, backlog); !done) return done.error();
    return backlog;
}

}  // namespace outrider::postgres
