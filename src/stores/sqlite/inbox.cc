#include "stores/sqlite/inbox.h"

#include "outrider/error.h"
#include "outrider/sqlite_inbox.h"

#include "core/clock.h"
#include "stores/sqlite/caller.h"
#include "stores/sqlite/sql.h"

namespace outrider::sqlite {
namespace {

std::int64_t millis(Duration duration) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

bool claim(
    sqlite3* database,
    std::string_view consumer,
    const Arrival& arrival,
    const InboxOptions& options
) {
    Statement insert = prepare_for_caller(database, sql::inbox_claim);
    const std::string id = arrival.id.to_string();
    insert.bind(1, consumer).bind(2, id).bind(3, millis(options.retention));
    const Result<std::int64_t> changed = insert.run();
    if (!changed) fail_caller(changed.error());
    return *changed == 1;
}

std::optional<std::int64_t> advance(
    sqlite3* database,
    std::string_view consumer,
    const Arrival& arrival,
    const InboxOptions& options
) {
    Statement upsert = prepare_for_caller(database, sql::inbox_advance);
    upsert.bind(1, consumer).bind(2, arrival.topic).bind(3, arrival.key);
    upsert.bind(4, *arrival.position).bind(5, millis(options.retention));
    const Result<bool> row = upsert.step();
    if (!row) fail_caller(row.error());
    const std::optional<std::int64_t> previous = upsert.maybe_integer(0);
    if (const Result<bool> over = upsert.step(); !over) fail_caller(over.error());
    return previous;
}

Receipt record(
    sqlite3* database,
    std::string_view consumer,
    const Arrival& arrival,
    const InboxOptions& options
) {
    if (!claim(database, consumer, arrival, options)) return {};
    if (!arrival.position) return judge(true, {}, {});
    return judge(true, arrival.position, advance(database, consumer, arrival, options));
}

}  // namespace

InboxEntry::InboxEntry(
    sqlite3* database,
    std::string_view consumer,
    const Arrival& arrival,
    const InboxOptions& options
)
    : database_(database) {
    validate(consumer, arrival);
    require_transaction(database);
    savepoint_ = std::make_unique<Savepoint>(database);
    receipt_ = record(database, consumer, arrival, options);
}

InboxEntry::~InboxEntry() {
    savepoint_.reset();
    if (!kept_) sqlite3_exec(database_, kReleaseUnit, nullptr, nullptr, nullptr);
}

void InboxEntry::keep() {
    savepoint_->keep();
    kept_ = true;
}

Result<std::int64_t> clean_inbox(sqlite3* database, std::int64_t now_millis, std::int64_t limit) {
    std::int64_t gone = 0;
    for (const std::string_view sql : {sql::inbox_clean_records, sql::inbox_clean_positions}) {
        Result<Statement> statement = Statement::prepare(database, sql);
        if (!statement) return statement.error();
        const Result<std::int64_t> removed =
            statement->bind(1, now_millis).bind(2, limit - gone).run();
        if (!removed) return removed.error();
        gone += *removed;
    }
    return gone;
}

std::uint64_t Inbox::clean_up(sqlite3* database, std::size_t limit) const {
    SystemClock clock;
    const Result<std::int64_t> gone =
        clean_inbox(database, to_millis(clock.wall()), static_cast<std::int64_t>(limit));
    if (!gone) fail_caller(gone.error());
    return static_cast<std::uint64_t>(*gone);
}

}  // namespace outrider::sqlite
