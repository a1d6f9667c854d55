#include "stores/sqlite/status.h"

#include <algorithm>
#include <limits>

#include "core/clock.h"
#include "core/topics.h"
#include "stores/shared/topic_list.h"
#include "stores/sqlite/lock.h"
#include "stores/sqlite/sql.h"

namespace outrider::sqlite {
namespace {

struct Place {
    std::int64_t position = 0;
    std::int64_t first_pending = std::numeric_limits<std::int64_t>::max();
};

struct Pending {
    std::uint64_t messages = 0;
    std::int64_t first = 0;
};

class BacklogReader {
public:
    explicit BacklogReader(const StatusRequest& request)
        : connection_(request.connection),
          path_(request.path),
          now_(request.now) {}

    Result<Backlog> read(const std::vector<Destination>& expected) {
        if (Result<void> done = read_destinations(); !done) return done.error();
        if (Result<void> done = add_newcomers(expected); !done) return done.error();
        if (Result<void> done = read_topics(); !done) return done.error();
        if (Result<void> done = read_ages(); !done) return done.error();
        std::sort(
            backlog_.destinations.begin(),
            backlog_.destinations.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; }
        );
        return std::move(backlog_);
    }

private:
    Result<void> read_destinations() {
        Result<Statement> rows = connection_.prepare(sql::status_destinations);
        if (!rows) return rows.error();
        for (;;) {
            const Result<bool> row = rows->step();
            if (!row) return row.error();
            if (!*row) return {};
            const Result<bool> running =
                DestinationLock(path_, rows->integer(0)).is_taken_elsewhere();
            backlog_.destinations.push_back(read_destination(*rows));
            backlog_.destinations.back().relay_running = running && *running;
            places_.push_back({rows->integer(3)});
        }
    }

    // Destinations that no relay has made known yet, at the place where they would begin.
    Result<void> add_newcomers(const std::vector<Destination>& expected) {
        Result<Statement> newest = connection_.prepare("select max(seq) from outrider_message");
        if (!newest) return newest.error();
        if (const Result<bool> row = newest->step(); !row) return row.error();
        for (const Destination& destination : expected) {
            const bool known = std::any_of(
                backlog_.destinations.begin(),
                backlog_.destinations.end(),
                [&](const DestinationStatus& status) { return status.name == destination.name; }
            );
            if (known) continue;
            DestinationStatus status;
            status.name = destination.name;
            status.topics = destination.topics;
            backlog_.destinations.push_back(std::move(status));
            places_.push_back({destination.start == Start::now ? newest->integer(0) : 0});
        }
        return {};
    }

    [[nodiscard]] DestinationStatus read_destination(const Statement& row) const {
        DestinationStatus status;
        status.name = row.text(1);
        status.topics = outrider::read_topics(row.text(2));
        status.paused = row.integer(4) != 0;
        status.delivered = static_cast<std::uint64_t>(row.integer(5));
        const std::int64_t window = to_millis(now_) - row.integer(6);
        if (row.integer(6) > 0 && window > 0) {
            const auto delivered = static_cast<double>(row.integer(5) - row.integer(7));
            status.rate = delivered * 1000 / static_cast<double>(window);
        }
        const std::string_view circuit = row.text(8);
        status.circuit =
            circuit == to_string(CircuitState::open) ? CircuitState::open : CircuitState::closed;
        status.circuit_reason = row.text(9);
        status.parked = static_cast<std::uint64_t>(row.integer(10));
        status.blocked_keys = static_cast<std::uint64_t>(row.integer(11));
        status.dead = static_cast<std::uint64_t>(row.integer(12));
        status.parked_reason = row.text(13);
        return status;
    }

    Result<void> read_topics() {
        Result<Statement> topics = connection_.prepare(sql::status_topics);
        if (!topics) return topics.error();
        Result<Statement> pending = connection_.prepare(sql::status_pending);
        if (!pending) return pending.error();
        for (;;) {
            const Result<bool> row = topics->step();
            if (!row) return row.error();
            if (!*row) return {};
            if (Result<void> done = count_topic(std::string(topics->text(0)), *pending); !done) {
                return done;
            }
        }
    }

    Result<void> count_topic(const std::string& topic, Statement& statement) {
        bool taken = false;
        for (std::size_t i = 0; i < places_.size(); ++i) {
            DestinationStatus& status = backlog_.destinations[i];
            if (!matches_any(status.topics, topic)) continue;
            taken = true;
            const Result<Pending> pending = count(topic, places_[i].position, statement);
            if (!pending) return pending.error();
            status.pending += pending->messages;
            if (pending->messages > 0) {
                places_[i].first_pending = std::min(places_[i].first_pending, pending->first);
            }
        }
        if (taken) return {};
        const Result<Pending> unrouted = count(topic, 0, statement);
        if (!unrouted) return unrouted.error();
        backlog_.unrouted.push_back({topic, unrouted->messages});
        return {};
    }

    static Result<Pending> count(
        const std::string& topic,
        std::int64_t after,
        Statement& statement
    ) {
        const ResetLater reset(statement);
        const Result<bool> row = statement.bind(1, topic).bind(2, after).step();
        if (!row) return row.error();
        return Pending{static_cast<std::uint64_t>(statement.integer(0)), statement.integer(1)};
    }

    Result<void> read_ages() {
        Result<Statement> occurred = connection_.prepare(sql::status_occurred);
        if (!occurred) return occurred.error();
        for (std::size_t i = 0; i < places_.size(); ++i) {
            const ResetLater reset(*occurred);
            const Result<bool> row = occurred->bind(1, places_[i].first_pending).step();
            if (!row) return row.error();
            if (!*row) continue;
            const Duration age = now_ - from_millis(occurred->integer(0));
            backlog_.destinations[i].oldest_pending_age = std::max(age, Duration::zero());
        }
        return {};
    }

    const Connection& connection_;
    const std::string& path_;
    const WallTime now_;
    Backlog backlog_;
    std::vector<Place> places_;
};

}  // namespace

Result<Backlog> read_backlog(
    const StatusRequest& request,
    const std::vector<Destination>& expected
) {
    return BacklogReader(request).read(expected);
}

}  // namespace outrider::sqlite
