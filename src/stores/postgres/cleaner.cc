#include "stores/postgres/cleaner.h"

#include <algorithm>

#include "stores/postgres/registration.h"
#include "stores/postgres/sql.h"

namespace outrider::postgres {
namespace {

// A segment that is larger than this is left behind even if it is young, so that no single one
// holds everything.
constexpr std::int64_t kSegmentBytesMax = std::int64_t{1} << 30;

// Nobody waits longer for a truncation than this: whoever comes behind it waits as long as it does.
// An autovacuum of the segment yields only after deadlock_timeout, a second: it may finish, and a
// later round truncates.
// A process that freezes in a step gives up the lock by the last of these.
constexpr std::string_view kBegin =
    "begin isolation level read committed; set local lock_timeout = '100ms'; "
    "set local idle_in_transaction_session_timeout = '10s'";

}  // namespace

// A segment that is neither active nor closed is the next one, opened ahead, or the one before, not
// closed yet.
Cleaner::Move Cleaner::next_move(const std::vector<Segment>& segments) {
    const auto active =
        std::find_if(segments.begin(), segments.end(), [](const Segment& s) { return s.active; });
    if (active == segments.end()) return {};
    const int next = active->number % kSegments + 1;
    bool next_is_free = false;
    for (const Segment& segment : segments) {
        if (segment.number == next) next_is_free = !segment.used;
        if (segment.active || segment.closed || !segment.used) continue;
        if (segment.number == next) return {Move::Sort::activate, next};
        return {Move::Sort::close, segment.number};
    }
    const bool due = active->old_enough || active->bytes >= kSegmentBytesMax;
    if (active->bytes == 0 || !due || !next_is_free) return {};
    return {Move::Sort::open, next};
}

Result<std::uint64_t> Cleaner::run(Duration retention) {
    Result<Step> step = this->step([this] { return remove_replaced(); });
    if (!step) return step.error();
    if (*step == Step::nothing) return std::uint64_t{0};  // somebody else cleans
    do {
        step = this->step([&] { return rotate(retention); });
        if (!step) return step.error();
    } while (*step == Step::done);
    std::uint64_t emptied = 0;
    while (true) {
        step = this->step([&] { return truncate(retention); });
        if (!step) return step.error();
        if (*step == Step::nothing) return emptied;
        ++emptied;
    }
}

Result<Cleaner::Step> Cleaner::step(const std::function<Result<Step>()>& work) {
    const Parameters lock = Parameters().add(lane_lock(names_, 0, -2));
    if (Result<void> begun = connection_.run_script(std::string(kBegin)); !begun)
        return begun.error();
    const Result<Rows> mine = connection_.run("select pg_try_advisory_xact_lock($1)", lock);
    Result<Step> done = !mine                 ? Result<Step>(mine.error())
                        : mine->boolean(0, 0) ? work()
                                              : Result<Step>(Step::nothing);
    // A lock that is not to be had is no fault: the next round tries again.
    if (!done && done.error().native_code == native_code_of("55P03")) done = Step::nothing;
    const bool commits = done && *done == Step::done;
    const Result<void> ended = connection_.run_script(commits ? "commit" : "rollback");
    if (done && !ended) return ended.error();
    return done;
}

Result<Cleaner::Step> Cleaner::remove_replaced() {
    for (const std::string_view sql : {sql::clean_cursors, sql::clean_samples}) {
        const Result<Rows> done = connection_.run(names_.fill(sql));
        if (!done) return done.error();
    }
    return Step::done;
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

Result<Cleaner::Step> Cleaner::script(std::string_view sql, int segment) {
    const std::string filled = Names::fill(sql, "segment", std::to_string(segment));
    const Result<void> done = connection_.run_script(names_.fill(filled));
    if (!done) return done.error();
    return Step::done;
}

Result<Cleaner::Step> Cleaner::rotate(Duration retention) {
    const Result<std::vector<Segment>> segments = read_segments(retention);
    if (!segments) return segments.error();
    const Move move = next_move(*segments);
    switch (move.sort) {
        case Move::Sort::none:
            return Step::nothing;
        case Move::Sort::open:
            return script(
                "update {schema}.segment set opened_at = {now} where segment = {segment}",
                move.segment
            );
        case Move::Sort::activate:
            return script(with_register_lock(sql::rotate, names_), move.segment);
        case Move::Sort::close:
            return script(
                "update {schema}.segment set closed_by = pg_current_xact_id(), closed_at = {now} "
                "where segment = {segment}",
                move.segment
            );
    }
    return Step::nothing;
}

// Oldest first, and no further than the first that fails: a hole in the history would reorder a
// destination that starts at the oldest.
Result<Cleaner::Step> Cleaner::truncate(Duration retention) {
    const Result<std::vector<Segment>> segments = read_segments(retention);
    if (!segments) return segments.error();
    const auto oldest =
        std::find_if(segments->begin(), segments->end(), [](const Segment& s) { return s.closed; });
    if (oldest == segments->end() || !oldest->expired) return Step::nothing;
    const int segment = oldest->number;
    Result<Step> locked =
        script("lock table {schema}.message_{segment} in access exclusive mode", segment);
    if (!locked) return locked;
    const Result<Rows> passed =
        connection_.run(names_.fill(sql::clean_passed), Parameters().add(std::int64_t{segment}));
    if (!passed) return passed.error();
    if (!passed->boolean(0, 0)) return Step::nothing;
    return script(
        "truncate {schema}.message_{segment}; update {schema}.segment set opened_at = null, "
        "closed_by = null, closed_at = null where segment = {segment}",
        segment
    );
}

}  // namespace outrider::postgres
