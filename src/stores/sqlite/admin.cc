#include "stores/sqlite/admin.h"

#include <memory_resource>

#include "core/topics.h"
#include "stores/shared/headers.h"
#include "stores/sqlite/doctor.h"
#include "stores/sqlite/inbox.h"
#include "stores/sqlite/lock.h"
#include "stores/sqlite/migrate.h"
#include "stores/sqlite/replay.h"
#include "stores/sqlite/sql.h"
#include "stores/sqlite/status.h"

namespace outrider::sqlite {
namespace {

DeadLetter read_dead(const Statement& row) {
    DeadLetter letter;
    letter.destination = row.text(0);
    letter.seq = row.integer(1);
    letter.id = MessageId::parse(row.text(2)).value_or(MessageId{});
    letter.topic = row.text(3);
    letter.key = row.text(4);
    letter.type = row.text(5);
    letter.content_type = row.text(6);
    std::pmr::monotonic_buffer_resource arena;
    std::string_view flaw;
    for (const HeaderView& header : read_headers(row.text(7), arena, flaw)) {
        letter.headers.push_back({std::string(header.name), std::string(header.value)});
    }
    letter.occurred_at = from_millis(row.integer(8));
    letter.attempts = static_cast<std::uint32_t>(row.integer(9));
    letter.error = row.text(10);
    letter.died_at = from_millis(row.integer(11));
    letter.holds_key = row.integer(12) != 0;
    letter.payload = row.bytes(13);
    return letter;
}

// An operator or a relay that stops would rather be told than wait for whoever has the database.
constexpr std::chrono::seconds kPatience(5);

}  // namespace

Result<std::unique_ptr<StoreAdmin>> SqliteAdmin::open(
    const std::string& path,
    StoreDriver::IfMissing if_missing,
    std::shared_ptr<Clock> clock
) {
    const bool create = if_missing == StoreDriver::IfMissing::create;
    const auto schema = create ? Connection::Schema::created : Connection::Schema::whatever;
    Result<Connection> connection = Connection::open(path, schema, kPatience);
    if (!connection) return connection.error();
    return std::unique_ptr<StoreAdmin>(
        new SqliteAdmin(std::move(connection).value(), path, std::move(clock))
    );
}

Result<SchemaVersion> SqliteAdmin::schema_version() {
    const Result<int> installed = installed_version(connection_.get());
    if (!installed) return installed.error();
    return SchemaVersion{*installed, newest_version()};
}

Result<SchemaVersion> SqliteAdmin::migrate() {
    const Result<int> installed = migrate_schema(connection_.get());
    if (!installed) return installed.error();
    return SchemaVersion{*installed, newest_version()};
}

std::string SqliteAdmin::schema_text() {
    return sqlite::schema_text();
}

Result<Backlog> SqliteAdmin::backlog(const std::vector<Destination>& expected) {
    Result<Transaction> snapshot = Transaction::begin(connection_, "begin");
    if (!snapshot) return snapshot.error();
    return read_backlog({connection_, path_, clock_->wall()}, expected);
}

Result<std::vector<SqliteAdmin::Found>> SqliteAdmin::find_dead(const DeadFilter& filter) {
    Result<Statement> list = connection_.prepare(sql::dead_list);
    if (!list) return list.error();
    const std::string id = filter.id ? filter.id->to_string() : "";
    if (filter.destination) list->bind(1, *filter.destination);
    if (filter.id) list->bind(2, id);
    if (filter.key) list->bind(3, *filter.key);
    std::vector<Found> found;
    while (found.size() < filter.limit) {
        const Result<bool> row = list->step();
        if (!row) return row.error();
        if (!*row) break;
        if (filter.topic && !matches(*filter.topic, list->text(3))) continue;
        DeadLetter letter = read_dead(*list);
        const DeadPlace place{list->integer(14), letter.seq, list->integer(15)};
        found.push_back({std::move(letter), place});
    }
    return found;
}

Result<std::vector<DeadLetter>> SqliteAdmin::dead_letters(const DeadFilter& filter) {
    Result<std::vector<Found>> found = find_dead(filter);
    if (!found) return found.error();
    std::vector<DeadLetter> letters;
    for (Found& one : *found) letters.push_back(std::move(one.letter));
    return letters;
}

Result<std::vector<DeadLetter>> SqliteAdmin::dead_letter(const MessageId& id) {
    Result<Statement> show = connection_.prepare(sql::dead_show);
    if (!show) return show.error();
    const std::string text = id.to_string();
    show->bind(1, text);
    std::vector<DeadLetter> letters;
    for (;;) {
        const Result<bool> row = show->step();
        if (!row) return row.error();
        if (!*row) return letters;
        letters.push_back(read_dead(*show));
    }
}

Result<std::int64_t> SqliteAdmin::run(
    std::string_view sql,
    const std::function<void(Statement&)>& bind
) {
    Result<Statement> statement = connection_.prepare(sql);
    if (!statement) return statement.error();
    bind(*statement);
    return statement->run();
}

Result<void> SqliteAdmin::discard_one(const DeadPlace& place) {
    const Result<std::int64_t> gone = run(sql::dead_discard, [&](Statement& statement) {
        statement.bind(1, place.destination).bind(2, place.seq);
    });
    if (!gone) return gone.error();
    return refresh_key(place);
}

Result<void> SqliteAdmin::refresh_key(const DeadPlace& place) {
    for (const std::string_view step : {sql::refresh_key, sql::drop_key}) {
        const Result<std::int64_t> done = run(step, [&](Statement& statement) {
            statement.bind(1, place.destination).bind(2, place.order_key);
        });
        if (!done) return done.error();
    }
    return {};
}

Result<std::uint64_t> SqliteAdmin::change_dead(
    const DeadFilter& filter,
    const std::function<Result<void>(const DeadPlace&)>& change
) {
    Result<Transaction> transaction = Transaction::begin(connection_, "begin immediate");
    if (!transaction) return transaction.error();
    const Result<std::vector<Found>> found = find_dead(filter);
    if (!found) return found.error();
    for (const Found& one : *found) {
        if (Result<void> changed = change(one.place); !changed) return changed.error();
    }
    if (Result<void> committed = transaction->commit(); !committed) return committed.error();
    return std::uint64_t{found->size()};
}

Result<std::uint64_t> SqliteAdmin::replay_dead(const DeadFilter& filter) {
    const std::int64_t now = to_millis(clock_->wall());
    return change_dead(filter, [&](const DeadPlace& place) -> Result<void> {
        const Result<std::int64_t> back = run(sql::dead_replay, [&](Statement& statement) {
            statement.bind(1, place.destination).bind(2, place.seq).bind(3, now);
        });
        if (!back) return back.error();
        return discard_one(place);
    });
}

Result<std::uint64_t> SqliteAdmin::discard_dead(const DeadFilter& filter) {
    return change_dead(filter, [this](const DeadPlace& place) { return discard_one(place); });
}

Result<std::optional<std::uint64_t>> SqliteAdmin::replay(const ReplayFilter& filter, bool dry_run) {
    return replay_history(connection_, filter, {.now = clock_->wall(), .dry_run = dry_run});
}

Result<std::vector<Finding>> SqliteAdmin::examine() {
    const Result<DoctorFacts> facts = read_facts(connection_, path_, clock_->wall());
    if (!facts) return facts.error();
    return judge(*facts);
}

Result<bool> SqliteAdmin::set_paused(std::string_view destination, bool paused) {
    const Result<std::int64_t> changed = run(sql::pause, [&](Statement& statement) {
        statement.bind(1, destination).bind(2, std::int64_t{paused});
    });
    if (!changed) return changed.error();
    return *changed > 0;
}

Result<bool> SqliteAdmin::forget(std::string_view destination) {
    Result<Transaction> transaction = Transaction::begin(connection_, "begin immediate");
    if (!transaction) return transaction.error();
    Result<Statement> find = connection_.prepare(sql::find_destination);
    if (!find) return find.error();
    const Result<bool> row = find->bind(1, destination).step();
    if (!row) return row.error();
    if (!*row) return false;
    const std::int64_t id = find->integer(0);
    find->reset();
    const Result<bool> taken = DestinationLock(path_, id).is_taken_elsewhere();
    if (!taken) return taken.error();
    if (*taken) {
        return Error{Remedy::yield, "a relay serves this destination right now: stop it first"};
    }
    for (const std::string_view step :
         {sql::forget_parked,
          sql::forget_parked_key,
          sql::forget_dead,
          sql::forget_session,
          sql::forget_mark,
          sql::forget_destination}) {
        const Result<std::int64_t> gone =
            run(step, [id](Statement& statement) { statement.bind(1, id); });
        if (!gone) return gone.error();
    }
    if (Result<void> committed = transaction->commit(); !committed) return committed.error();
    return true;
}

Result<void> SqliteAdmin::note_circuit(
    std::string_view destination,
    CircuitState state,
    std::string_view reason
) {
    const Result<std::int64_t> noted = run(sql::note_circuit, [&](Statement& statement) {
        statement.bind(1, destination).bind(2, to_string(state)).bind(3, reason);
    });
    if (!noted) return noted.error();
    return {};
}

Result<void> SqliteAdmin::note_progress(WallTime now, Duration retention) {
    constexpr int kNotes = 64;  // so much more than its retention a message may be kept
    const Result<std::int64_t> pruned = run(sql::clean_notes, [&](Statement& statement) {
        statement.bind(1, to_millis(now)).bind(2, to_millis(now - retention));
    });
    if (!pruned) return pruned.error();
    const Result<std::int64_t> noted = run(sql::clean_note, [&](Statement& statement) {
        statement.bind(1, to_millis(now)).bind(2, to_millis(now - retention / kNotes));
    });
    if (!noted) return noted.error();
    return {};
}

Result<std::uint64_t> SqliteAdmin::clean_up(Duration retention, std::size_t limit) {
    if (Result<void> same = connection_.check_in_place(); !same) return same.error();
    const WallTime now = clock_->wall();
    const bool keeps = retention > Duration::zero();
    if (keeps) {
        if (Result<void> noted = note_progress(now, retention); !noted) return noted.error();
    }
    const Result<std::int64_t> removed = run(sql::clean_up, [&](Statement& statement) {
        statement.bind(1, std::int64_t{!keeps}).bind(2, to_millis(now - retention));
        statement.bind(3, static_cast<std::int64_t>(limit));
    });
    if (!removed) return removed.error();
    return static_cast<std::uint64_t>(*removed);
}

Result<std::uint64_t> SqliteAdmin::clean_inbox(std::size_t limit) {
    const Result<std::int64_t> removed = sqlite::clean_inbox(
        connection_.get(), to_millis(clock_->wall()), static_cast<std::int64_t>(limit)
    );
    if (!removed) return removed.error();
    return static_cast<std::uint64_t>(*removed);
}

}  // namespace outrider::sqlite
