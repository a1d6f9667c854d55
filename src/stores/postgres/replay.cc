#include "stores/postgres/replay.h"

#include "core/clock.h"
#include "stores/postgres/registration.h"
#include "stores/postgres/sql.h"
#include "stores/postgres/status.h"
#include "stores/shared/topic_list.h"

namespace outrider::postgres {
namespace {

class Replay {
public:
    Replay(const Connection& connection, const Names& names, const ReplayFilter& filter)
        : connection_(connection),
          names_(names),
          filter_(filter) {}

    // False: no such destination.
    [[nodiscard]] Result<bool> find() {
        const Result<Rows> rows = connection_.run(
            names_.fill(sql::replay_lanes), Parameters().add(std::string_view(filter_.destination))
        );
        if (!rows) return rows.error();
        if (rows->count() == 0) return false;
        id_ = rows->integer(0, 0);
        patterns_ = like_patterns(read_topics(rows->bytes(0, 1)));
        ordering_ = rows->bytes(0, 2);
        lanes_ = read_array(rows->bytes(0, 3));
        if (Result<void> narrowed = narrow(); !narrowed) return narrowed.error();
        return true;
    }

    [[nodiscard]] Result<std::uint64_t> count() const {
        std::uint64_t total = 0;
        for (const std::int64_t lane : lanes_) {
            const Result<Rows> rows = connection_.run(text(sql::replay_count), parameters(lane));
            if (!rows) return rows.error();
            total += static_cast<std::uint64_t>(rows->integer(0, 0));
        }
        return total;
    }

    [[nodiscard]] Result<std::uint64_t> run() const {
        std::uint64_t total = 0;
        for (const std::int64_t lane : lanes_) {
            Result<std::uint64_t> parked = park(lane);
            if (parked) {
                total += *parked;
                continue;
            }
            [[maybe_unused]] const Result<void> undone = connection_.run_script("rollback");
            if (total == 0) return parked;
            return Error{
                parked.error().remedy,
                std::to_string(total) + " messages are on their way, then: " + parked.error().text};
        }
        return total;
    }

private:
    // To what is asked for. A destination with one order has one lane, whatever those of messages.
    [[nodiscard]] Result<void> narrow() {
        Parameters asked;
        asked.add(std::string_view(patterns_));
        add_filter(asked);
        const Result<Rows> scope = connection_.run(names_.fill(sql::replay_scope), asked);
        if (!scope) return scope.error();
        if (scope->is_null(0, 0)) {
            lanes_.clear();
            return {};
        }
        first_ = scope->integer(0, 0);
        if (ordering_ != to_string(Order::global)) lanes_ = read_array(scope->bytes(0, 1));
        return {};
    }

    // The lock is a statement of its own: the cursor must be read after it.
    [[nodiscard]] Result<std::uint64_t> park(std::int64_t lane) const {
        const Result<void> begun = connection_.run_script(
            "begin isolation level read committed; set local lock_timeout = '60s'; "
            "select pg_advisory_xact_lock(" +
            std::to_string(lane_lock(names_, id_, lane)) + ")"
        );
        if (!begun) return begun.error();
        const Result<Rows> parked = connection_.run(text(sql::replay_park), parameters(lane));
        if (!parked) return parked.error();
        const Result<Rows> keys =
            connection_.run(names_.fill(sql::replay_keys), Parameters().add(id_).add(lane));
        if (!keys) return keys.error();
        if (Result<void> done = connection_.run_script("commit"); !done) return done.error();
        return static_cast<std::uint64_t>(parked->changed());
    }

    [[nodiscard]] std::string text(std::string_view sql) const {
        return names_.fill(Names::fill(sql, "rows", sql::replay_rows));
    }

    [[nodiscard]] Parameters parameters(std::int64_t lane) const {
        Parameters parameters;
        parameters.add(id_).add(lane).add(std::string_view(ordering_));
        parameters.add(std::string_view(patterns_));
        add_filter(parameters);
        return parameters;
    }

    void add_filter(Parameters& parameters) const {
        const auto add = [&parameters](const std::optional<std::string>& value) {
            if (value) {
                parameters.add(std::string_view(*value));
            } else {
                parameters.add_null();
            }
        };
        const std::optional<std::int64_t> from = first_ ? first_ : filter_.from_seq;
        add(from ? std::optional(std::to_string(*from)) : std::nullopt);
        add(filter_.from_time ? std::optional(to_iso_micros(*filter_.from_time)) : std::nullopt);
        add(filter_.topic ? std::optional(like_pattern(*filter_.topic)) : std::nullopt);
        add(filter_.key);
    }

    const Connection& connection_;
    const Names& names_;
    const ReplayFilter& filter_;
    std::int64_t id_ = 0;
    std::string patterns_;
    std::string ordering_;
    std::vector<std::int64_t> lanes_;
    std::optional<std::int64_t> first_;  // message of those that are asked for
};

}  // namespace

Result<std::optional<std::uint64_t>> replay_history(
    const Connection& connection,
    const Names& names,
    const ReplayFilter& filter,
    bool dry_run
) {
    Replay replay(connection, names, filter);
    const Result<bool> found = replay.find();
    if (!found) return found.error();
    if (!*found) return std::optional<std::uint64_t>{};
    const Result<std::uint64_t> messages = dry_run ? replay.count() : replay.run();
    if (!messages) return messages.error();
    return std::optional(*messages);
}

}  // namespace outrider::postgres
