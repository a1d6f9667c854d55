#include "stores/postgres/admin.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory_resource>
#include <set>

#include "stores/postgres/claim.h"
#include "stores/postgres/claim_query.h"
#include "stores/postgres/cleaner.h"
#include "stores/postgres/doctor.h"
#include "stores/postgres/identity.h"
#include "stores/postgres/migrate.h"
#include "stores/postgres/registration.h"
#include "stores/postgres/replay.h"
#include "stores/postgres/sql.h"
#include "stores/postgres/status.h"
#include "stores/shared/headers.h"

namespace outrider::postgres {
namespace {

// Columns of dead_list.sql and dead_show.sql.
enum Column : int {
    kName,
    kLetterSeq,
    kId,
    kTopic,
    kKey,
    kType,
    kContentType,
    kHeaders,
    kOccurredAt,
    kLetterAttempts,
    kError,
    kDiedAt,
    kHoldsKey,
    kPayload,
    kDestination,
    kLetterOrderKey,
    kLetterLane,
};

DeadLetter read_dead(const Rows& rows, int row) {
    DeadLetter letter;
    letter.destination = rows.bytes(row, kName);
    letter.seq = rows.integer(row, kLetterSeq);
    std::array<std::uint8_t, 16> id{};
    const std::string_view raw = rows.bytes(row, kId);
    std::copy(raw.begin(), raw.end(), id.begin());
    letter.id = MessageId(id);
    letter.topic = rows.bytes(row, kTopic);
    letter.key = rows.bytes(row, kKey);
    letter.type = rows.bytes(row, kType);
    letter.content_type = rows.bytes(row, kContentType);
    std::pmr::monotonic_buffer_resource arena;
    std::string_view flaw;
    for (const HeaderView& header :
         read_headers(jsonb_text(rows.bytes(row, kHeaders)), arena, flaw)) {
        letter.headers.push_back({std::string(header.name), std::string(header.value)});
    }
    letter.occurred_at = from_server_time(rows.integer(row, kOccurredAt));
    letter.attempts = static_cast<std::uint32_t>(rows.integer(row, kLetterAttempts));
    letter.error = rows.bytes(row, kError);
    letter.died_at = from_server_time(rows.integer(row, kDiedAt));
    letter.holds_key = rows.boolean(row, kHoldsKey);
    letter.payload = rows.bytes(row, kPayload);
    return letter;
}

std::vector<DeadLetter> read_all_dead(const Rows& rows) {
    std::vector<DeadLetter> letters;
    for (int row = 0; row < rows.count(); ++row) letters.push_back(read_dead(rows, row));
    return letters;
}

}  // namespace

Result<std::unique_ptr<StoreAdmin>> PostgresAdmin::open(const StoreOptions& options) {
    Result<Names> names = Names::of(options.schema, options.now);
    if (!names) return names.error();
    Result<Connection> connection = Connection::open(options.conninfo);
    if (!connection) return connection.error();
    return std::unique_ptr<StoreAdmin>(
        new PostgresAdmin(std::move(connection).value(), std::move(names).value(), options)
    );
}

Result<SchemaVersion> PostgresAdmin::schema_version() {
    const Result<int> installed = installed_version(connection_, names_);
    if (!installed) return installed.error();
    return SchemaVersion{*installed, newest_version()};
}

Result<SchemaVersion> PostgresAdmin::migrate() {
    const Result<int> installed = migrate_schema(connection_, names_, options_.lanes);
    if (!installed) return installed.error();
    Result<std::vector<std::string>> missing = missing_roles(connection_, names_);
    if (!missing) return missing.error();
    return SchemaVersion{*installed, newest_version(), std::move(missing).value()};
}

std::string PostgresAdmin::schema_text() {
    return postgres::schema_text(names_, options_.lanes);
}

Result<Backlog> PostgresAdmin::backlog(const std::vector<Destination>& expected) {
    return read_backlog(connection_, names_, expected);
}

Result<void> PostgresAdmin::run(std::string_view sql, const Parameters& parameters) {
    const Result<Rows> done = connection_.run(names_.fill(sql), parameters);
    if (!done) return done.error();
    return {};
}

Result<void> PostgresAdmin::in_transaction(const std::function<Result<void>()>& work) {
    Result<void> begun = connection_.run_script(
        "begin isolation level read committed; set local lock_timeout = '60s'"
    );
    if (!begun) return begun;
    Result<void> done = work();
    if (done) done = connection_.run_script("commit");
    if (!done) {
        [[maybe_unused]] const Result<void> undone = connection_.run_script("rollback");
    }
    return done;
}

Result<Rows> PostgresAdmin::find_dead(const DeadFilter& filter) {
    Parameters parameters;
    const auto add = [&parameters](const std::optional<std::string>& value) {
        if (value) {
            parameters.add(std::string_view(*value));
        } else {
            parameters.add_null();
        }
    };
    add(filter.destination);
    add(filter.id ? std::optional(filter.id->to_string()) : std::nullopt);
    add(filter.key);
    add(filter.topic ? std::optional(like_pattern(*filter.topic)) : std::nullopt);
    constexpr std::uint64_t kAll = std::numeric_limits<std::int64_t>::max();
    parameters.add(static_cast<std::int64_t>(std::min<std::uint64_t>(filter.limit, kAll)));
    return connection_.run(names_.fill(with_short_values(sql::dead_list, "x")), parameters);
}

Result<std::vector<DeadLetter>> PostgresAdmin::dead_letters(const DeadFilter& filter) {
    const Result<Rows> found = find_dead(filter);
    if (!found) return found.error();
    return read_all_dead(*found);
}

Result<std::vector<DeadLetter>> PostgresAdmin::dead_letter(const MessageId& id) {
    const Result<Rows> found = connection_.run(
        names_.fill(sql::dead_show), Parameters().add(std::string_view(id.to_string()))
    );
    if (!found) return found.error();
    return read_all_dead(*found);
}

Result<std::uint64_t> PostgresAdmin::change_one(const Rows& found, int row, bool replays) {
    const std::int64_t destination = found.integer(row, kDestination);
    ArrayText key;
    key.add(found.integer(row, kLetterOrderKey));
    const Parameters place = Parameters().add(destination).add(found.integer(row, kLetterSeq));
    const Parameters keys = Parameters().add(destination).add(std::string_view(key.text()));
    if (replays) {
        if (Result<void> done = run(sql::dead_replay, place); !done) return done.error();
    }
    const Result<Rows> gone = connection_.run(names_.fill(sql::dead_discard), place);
    if (!gone) return gone.error();
    if (Result<void> done = run(sql::refresh_key, keys); !done) return done.error();
    if (Result<void> done = run(sql::drop_key, keys); !done) return done.error();
    return static_cast<std::uint64_t>(gone->changed());
}

Result<std::uint64_t> PostgresAdmin::change_dead(const DeadFilter& filter, bool replays) {
    std::uint64_t count = 0;
    const Result<void> done = in_transaction([&]() -> Result<void> {
        const Result<Rows> found = find_dead(filter);
        if (!found) return found.error();
        std::set<std::int64_t> locks;  // in order, so that two operators cannot lock each other out
        for (int row = 0; row < found->count(); ++row) {
            locks.insert(lane_lock(
                names_, found->integer(row, kDestination), found->integer(row, kLetterLane)
            ));
        }
        for (const std::int64_t lock : locks) {
            Result<void> locked = run("select pg_advisory_xact_lock($1)", Parameters().add(lock));
            if (!locked) return locked;
        }
        // Another operator may have been there while we waited for the locks.
        for (int row = 0; row < found->count(); ++row) {
            const Result<std::uint64_t> changed = change_one(*found, row, replays);
            if (!changed) return changed.error();
            count += *changed;
        }
        return {};
    });
    if (!done) return done.error();
    return count;
}

Result<std::uint64_t> PostgresAdmin::replay_dead(const DeadFilter& filter) {
    return change_dead(filter, true);
}

Result<std::uint64_t> PostgresAdmin::discard_dead(const DeadFilter& filter) {
    return change_dead(filter, false);
}

Result<std::optional<std::uint64_t>> PostgresAdmin::replay(
    const ReplayFilter& filter,
    bool dry_run
) {
    if (Result<void> ours = check_identity(connection_, names_); !ours) return ours.error();
    return replay_history(connection_, names_, filter, dry_run);
}

Result<std::vector<Finding>> PostgresAdmin::examine() {
    const Result<DoctorFacts> facts = read_facts(connection_, names_);
    if (!facts) return facts.error();
    return judge(*facts);
}

Result<Adoption> PostgresAdmin::adopt(std::optional<bool> follow_promotions) {
    return adopt_log(connection_, names_, follow_promotions);
}

Result<bool> PostgresAdmin::set_paused(std::string_view destination, bool paused) {
    const Result<Rows> changed =
        connection_.run(names_.fill(sql::pause), Parameters().add(destination).add(paused));
    if (!changed) return changed.error();
    return changed->changed() > 0;
}

Result<bool> PostgresAdmin::forget(std::string_view destination) {
    bool known = false;
    const Result<void> done = in_transaction([&]() -> Result<void> {
        const Parameters lock = Parameters().add(registration_lock(names_, destination));
        if (Result<void> alone = run("select pg_advisory_xact_lock($1)", lock); !alone)
            return alone;
        const Result<Rows> found = connection_.run(
            names_.fill(sql::find_destination), Parameters().add(destination).add_null()
        );
        if (!found) return found.error();
        known = found->count() > 0;
        if (!known) return {};
        const std::int64_t id = found->integer(0, 0);
        const Result<bool> free = lock_all_lanes(connection_, names_, id);
        if (!free) return free.error();
        if (!*free) {
            return Error{Remedy::yield, "a relay serves this destination right now: stop it first"};
        }
        return run(sql::forget, Parameters().add(id));
    });
    if (!done) return done.error();
    return known;
}

Result<void> PostgresAdmin::note_circuit(
    std::string_view destination,
    CircuitState state,
    std::string_view reason
) {
    const std::string storable = connection_.storable(reason);
    return run(
        sql::note_circuit,
        Parameters().add(destination).add(to_string(state)).add(std::string_view(storable))
    );
}

Result<std::uint64_t> PostgresAdmin::clean_up(Duration retention, std::size_t /*limit*/) {
    if (Result<void> ours = check_identity(connection_, names_); !ours) return ours.error();
    return Cleaner(connection_, names_).run(retention);
}

Result<std::uint64_t> PostgresAdmin::clean_inbox(std::size_t limit) {
    const Result<Rows> removed = connection_.run(
        names_.fill(sql::inbox_clean_up), Parameters().add(static_cast<std::int64_t>(limit))
    );
    if (!removed) return removed.error();
    return static_cast<std::uint64_t>(removed->integer(0, 0));
}

}  // namespace outrider::postgres
