#include "stores/postgres/cleaner.h"

#include <algorithm>

#include "stores/postgres/registration.h"
#include "stores/postgres/sql.h"

namespace outrider::postgres {
namespace {

// A segment that is larger than this is left behind even if it is young, so that no single one
// holds everything.
constexpr std::int64_t kSegmentBytesMax = std::int64_t{1} << 30;

constexpr int kSegments = 4;

Result<void> no_rows(const Result<Rows>& rows) {
    if (!rows) return rows.error();
    return {};
}

}  // namespace

Result<std::uint64_t> Cleaner::run(Duration retention) {
    const std::int64_t lock = lane_lock(names_, 0, -2);
    const Result<Rows> mine =
        connection_.run("select pg_try_advisory_lock($1)", Parameters().add(lock));
    if (!mine) return mine.error();
    if (!mine->boolean(0, 0)) return std::uint64_t{0};
    Result<std::uint64_t> emptied = clean(retention);
    const Result<Rows> released =
        connection_.run("select pg_advisory_unlock($1)", Parameters().add(lock));
    if (!released) return released.error();
    return emptied;
}

Result<std::uint64_t> Cleaner::clean(Duration retention) {
    for (const std::string_view sql : {sql::clean_cursors, sql::clean_samples}) {
        if (Result<void> done = no_rows(connection_.run(names_.fill(sql))); !done)
            return done.error();
    }
    Result<std::vector<Segment>> segments = read_segments(retention);
    if (!segments) return segments.error();
    if (Result<void> done = close_left_behind(*segments); !done) return done.error();
    if (Result<void> done = rotate(*segments); !done) return done.error();
    return truncate(*segments);
}

Result<std::vector<Cleaner::Segment>> Cleaner::read_segments(Duration retention) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(retention).count();
    const Result<Rows> rows =
        connection_.run(names_.fill(sql::clean_state), Parameters().add(std::int64_t{seconds}));
    if (!rows) return rows.error();
    std::vector<Segment> segments;
    for (int row = 0; row < rows->count(); ++row) {
        segments.push_back(
            {.number = static_cast<int>(rows->integer(row, 0)),
             .active = rows->boolean(row, 1),
             .used = rows->boolean(row, 2),
             .closed = rows->boolean(row, 3),
             .expired = rows->boolean(row, 4),
             .old_enough = rows->boolean(row, 5),
             .bytes = rows->integer(row, 6)}
        );
    }
    return segments;
}

Result<void> Cleaner::script(std::string_view sql, int segment) {
    return connection_.run_script(names_.fill(Names::fill(sql, "segment", std::to_string(segment)))
    );
}

Result<void> Cleaner::close_left_behind(const std::vector<Segment>& segments) {
    for (const Segment& segment : segments) {
        if (segment.active || segment.closed || !segment.used) continue;
        Result<void> closed = script(
            "update {schema}.segment set closed_by = pg_current_xact_id(), closed_at = "
            "{now} "
            "where segment = {segment}",
            segment.number
        );
        if (!closed) return closed;
    }
    return {};
}

// Three statements, each committed before the next: the new segment counts as used before anybody
// can write into it, and the id that closes the old one is drawn after nobody new can.
Result<void> Cleaner::rotate(const std::vector<Segment>& segments) {
    const auto active =
        std::find_if(segments.begin(), segments.end(), [](const Segment& s) { return s.active; });
    if (active == segments.end() || active->bytes == 0) return {};
    if (!active->old_enough && active->bytes < kSegmentBytesMax) return {};
    const int next = active->number % kSegments + 1;
    const bool free = std::any_of(segments.begin(), segments.end(), [next](const Segment& s) {
        return s.number == next && !s.used;
    });
    if (!free) return {};
    Result<void> opened =
        script("update {schema}.segment set opened_at = {now} where segment = {segment}", next);
    if (!opened) return opened;
    Result<void> moved = script("select setval('{schema}.active', {segment})", next);
    if (!moved) return moved;
    return script(
        "update {schema}.segment set closed_by = pg_current_xact_id(), closed_at = "
        "{now} "
        "where segment = {segment}",
        active->number
    );
}

// Oldest first, and no further than the first that fails: a hole in the history would reorder a
// destination that starts at the oldest.
Result<std::uint64_t> Cleaner::truncate(const std::vector<Segment>& segments) {
    std::uint64_t emptied = 0;
    for (const Segment& segment : segments) {
        if (!segment.closed) continue;
        if (!segment.expired) break;
        const Result<bool> done = truncate_one(segment);
        if (!done) return done.error();
        if (!*done) break;
        ++emptied;
    }
    return emptied;
}

Result<bool> Cleaner::truncate_one(const Segment& segment) {
    const Result<void> locked = script(
        "begin isolation level read committed; set local lock_timeout = '100ms'; "
        "lock table {schema}.message_{segment} in access exclusive mode",
        segment.number
    );
    bool done = false;
    if (locked) {
        const Result<Rows> passed = connection_.run(
            names_.fill(sql::clean_passed), Parameters().add(std::int64_t{segment.number})
        );
        if (passed && passed->boolean(0, 0)) {
            done = script(
                       "truncate {schema}.message_{segment}; update {schema}.segment set opened_at "
                       "= null, "
                       "closed_by = null, closed_at = null where segment = {segment}; commit",
                       segment.number
            )
                       .has_value();
        }
    }
    if (!done) {
        if (Result<void> undone = connection_.run_script("rollback"); !undone)
            return undone.error();
    }
    return done;
}

}  // namespace outrider::postgres
