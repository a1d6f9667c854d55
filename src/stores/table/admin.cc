#include "stores/table/admin.h"

#include <algorithm>
#include <array>
#include <memory_resource>

#include "core/topics.h"
#include "stores/postgres/claim.h"
#include "stores/postgres/status.h"
#include "stores/shared/headers.h"
#include "stores/table/advice.h"
#include "stores/table/sql.h"
#include "stores/table/status.h"

namespace outrider::table {
namespace {

using postgres::Connection;
using postgres::from_server_time;
using postgres::Parameters;
using postgres::Rows;

// A clean-up that found little takes at most this part of the time.
constexpr int kCleanUpRest = 100;

// Columns of dead_list.sql.
enum DeadColumn : int {
    kDeadId,
    kDeadTopic,
    kDeadKey,
    kDeadType,
    kDeadContentType,
    kDeadHeaders,
    kDeadOccurred,
    kDeadAttempts,
    kDeadError,
    kDeadPayload,
};

DeadLetter read_dead(const Destination& destination, const Rows& rows, int row, bool whole) {
    DeadLetter letter;
    letter.destination = destination.name;
    std::array<std::uint8_t, 16> id{};
    const std::string_view raw = rows.bytes(row, kDeadId);
    std::copy_n(raw.begin(), std::min(raw.size(), id.size()), id.begin());
    letter.id = MessageId(id);
    letter.topic = rows.bytes(row, kDeadTopic);
    letter.key = rows.bytes(row, kDeadKey);
    letter.type = rows.bytes(row, kDeadType);
    letter.content_type = rows.bytes(row, kDeadContentType);
    std::pmr::monotonic_buffer_resource arena;
    std::string_view flaw;
    for (const HeaderView& header : read_headers(rows.bytes(row, kDeadHeaders), arena, flaw)) {
        letter.headers.push_back({std::string(header.name), std::string(header.value)});
    }
    if (!rows.is_null(row, kDeadOccurred)) {
        letter.occurred_at = from_server_time(rows.integer(row, kDeadOccurred));
    }
    letter.attempts = static_cast<std::uint32_t>(rows.integer(row, kDeadAttempts));
    letter.error = rows.bytes(row, kDeadError);
    letter.holds_key = destination.after_death == AfterDeath::hold && blocks(destination);
    if (whole) letter.payload = rows.bytes(row, kDeadPayload);
    return letter;
}

std::string remark_of(const Advice& advice) {
    return advice.text + (advice.statement.empty() ? "" : ": " + advice.statement + ";");
}

Error impossible(std::string_view what) {
    return {
        Remedy::correct,
        std::string(what) +
            " is not possible on an existing table, which has no place to note it: stop its "
            "relays, or change over to the log ('outrider import')"};
}

}  // namespace

Result<std::unique_ptr<StoreAdmin>> TableAdmin::open(
    const TablePlace& place,
    std::vector<Destination> destinations,
    HeldRows held
) {
    Result<Connection> connection = Connection::open(place.conninfo, Connection::Path::user);
    if (!connection) return connection.error();
    const Result<Facts> facts = find_facts(*connection, place.layout);
    if (!facts) return facts.error();
    return std::unique_ptr<StoreAdmin>(new TableAdmin(
        std::move(connection).value(),
        Wording(place.layout, *facts),
        std::move(destinations),
        std::move(held)
    ));
}

// The table is the application's: whatever it is, there is nothing newer that we would know of.
Result<SchemaVersion> TableAdmin::schema_version() {
    const Result<std::optional<Advice>> on_id = advise_on_id(connection_, wording_);
    if (!on_id) return on_id.error();
    SchemaVersion version{1, 1, {}};
    if (*on_id) version.remarks.push_back(remark_of(**on_id));
    return version;
}

Result<SchemaVersion> TableAdmin::migrate() {
    const Result<std::vector<Advice>> advice = advise(connection_, wording_);
    if (!advice) return advice.error();
    SchemaVersion version{1, 1, {}};
    for (const Advice& one : *advice) version.remarks.push_back(remark_of(one));
    return version;
}

std::string TableAdmin::schema_text() {
    return index_statement(wording_) + ";\n";
}

Result<DestinationStatus> TableAdmin::status(const Destination& destination) {
    const auto held = held_.find(destination.name);
    Result<DestinationStatus> status = read_status(
        connection_, wording_, destination, held == held_.end() ? nullptr : held->second.get()
    );
    if (!status) return status;
    const Result<Rows> free = connection_.run(
        "select pg_try_advisory_xact_lock($1)",
        Parameters().add(wording_.presence(destination.name))
    );
    if (!free) return free.error();
    status->relay_running = !free->boolean(0, 0);
    return status;
}

Result<Backlog> TableAdmin::backlog(const std::vector<Destination>& expected) {
    std::vector<Destination> all = expected;
    for (const Destination& known : destinations_) {
        const bool there = std::any_of(expected.begin(), expected.end(), [&](const auto& one) {
            return one.name == known.name;
        });
        if (!there) all.push_back(known);
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    Backlog backlog;
    for (const Destination& destination : all) {
        Result<DestinationStatus> one = status(destination);
        if (!one) return one.error();
        backlog.destinations.push_back(std::move(one).value());
    }
    if (Result<void> read = read_unrouted(all, backlog); !read) return read.error();
    return backlog;
}

Result<void> TableAdmin::read_unrouted(
    const std::vector<Destination>& destinations,
    Backlog& backlog
) {
    const Result<Rows> topics =
        connection_.run(wording_.fill(sql::status_topics), Parameters().add(kCountMax));
    if (!topics) return topics.error();
    for (int row = 0; row < topics->count(); ++row) {
        const std::string topic(topics->bytes(row, 0));
        const bool taken =
            std::any_of(destinations.begin(), destinations.end(), [&](const auto& d) {
                return matches_any(d.topics, topic);
            });
        if (taken) continue;
        backlog.unrouted.push_back({topic, static_cast<std::uint64_t>(topics->integer(row, 1))});
    }
    return {};
}

Result<void> TableAdmin::for_dead(
    std::string_view sql,
    const DeadFilter& filter,
    const Take& take
) {
    for (const Destination& destination : destinations_) {
        if (filter.destination && *filter.destination != destination.name) continue;
        Parameters parameters;
        const auto add = [&parameters](const std::optional<std::string>& value) {
            if (value) {
                parameters.add(std::string_view(*value));
            } else {
                parameters.add_null();
            }
        };
        add(filter.id ? std::optional(filter.id->to_string()) : std::nullopt);
        add(filter.key);
        add(filter.topic ? std::optional(postgres::like_pattern(*filter.topic)) : std::nullopt);
        constexpr std::size_t kMost = 1'000'000'000;
        parameters.add(static_cast<std::int64_t>(std::min(filter.limit, kMost)));
        const Result<Rows> rows = connection_.run(wording_.fill(sql, destination), parameters);
        if (!rows) return rows.error();
        take(destination, *rows);
    }
    return {};
}

Result<std::vector<DeadLetter>> TableAdmin::list_dead(const DeadFilter& filter, bool whole) {
    std::vector<DeadLetter> letters;
    const auto take = [&](const Destination& destination, const Rows& rows) {
        for (int row = 0; row < rows.count() && letters.size() < filter.limit; ++row) {
            letters.push_back(read_dead(destination, rows, row, whole));
        }
    };
    if (Result<void> done = for_dead(sql::dead_list, filter, take); !done) return done.error();
    return letters;
}

Result<std::vector<DeadLetter>> TableAdmin::dead_letters(const DeadFilter& filter) {
    return list_dead(filter, false);
}

Result<std::vector<DeadLetter>> TableAdmin::dead_letter(const MessageId& id) {
    DeadFilter filter;
    filter.id = id;
    return list_dead(filter, true);
}

Result<std::uint64_t> TableAdmin::change_dead(std::string_view sql, const DeadFilter& filter) {
    std::uint64_t changed = 0;
    const auto take = [&](const Destination&, const Rows& rows) {
        changed += static_cast<std::uint64_t>(rows.changed());
    };
    if (Result<void> done = for_dead(sql, filter, take); !done) return done.error();
    return changed;
}

Result<std::uint64_t> TableAdmin::replay_dead(const DeadFilter& filter) {
    return change_dead(sql::dead_replay, filter);
}

Result<std::uint64_t> TableAdmin::discard_dead(const DeadFilter& filter) {
    return change_dead(sql::dead_discard, filter);
}

Result<std::optional<std::uint64_t>> TableAdmin::replay(
    const ReplayFilter& /*filter*/,
    bool /*dry_run*/
) {
    return Error{
        Remedy::upgrade,
        "an existing table keeps no history that could be replayed: 'outrider import' moves to the "
        "log, which does"};
}

Result<std::vector<Finding>> TableAdmin::examine() {
    const Result<std::vector<Advice>> advice = advise(connection_, wording_);
    if (!advice) return advice.error();
    std::vector<Finding> findings;
    for (const Advice& one : *advice) {
        findings.push_back({one.gravity, "table", remark_of(one), "see docs/existing-tables.md"});
    }
    if (Result<void> added = add_odd_rows(findings); !added) return added.error();
    return findings;
}

Result<void> TableAdmin::add_odd_rows(std::vector<Finding>& findings) {
    if (wording_.fill("{odd}") == "false") return {};
    const Result<Rows> odd =
        connection_.run(wording_.fill(sql::examine_odd), Parameters().add(kCountMax));
    if (!odd) return odd.error();
    const std::int64_t count = odd->integer(0, 0);
    if (count == 0) return {};
    findings.push_back(
        {Gravity::hint,
         "table",
         std::to_string(count) + " rows are neither pending, delivered nor dead (such as '" +
             std::string(odd->bytes(0, 1)) + "' in " + quote_name(wording_.layout().status) + ")",
         "they are delivered once their status is '" + wording_.layout().status_pending + "'"}
    );
    return {};
}

Result<bool> TableAdmin::set_paused(std::string_view /*destination*/, bool paused) {
    return impossible(paused ? "pausing a destination" : "resuming a destination");
}

Result<bool> TableAdmin::forget(std::string_view /*destination*/) {
    return impossible("forgetting a destination");
}

Result<void> TableAdmin::note_circuit(
    std::string_view /*destination*/,
    CircuitState /*state*/,
    std::string_view /*reason*/
) {
    return {};
}

Result<std::uint64_t> TableAdmin::clean_up(Duration /*retention*/, std::size_t limit) {
    const Duration retention = wording_.layout().retention;
    if (retention <= Duration::zero() || wording_.layout().done == Done::erase) return 0;
    const MonoTime start = clock_.now();
    if (start < clean_up_at_) return 0;
    const Result<Rows> removed = connection_.run(
        wording_.fill(sql::clean_up),
        Parameters()
            .add(static_cast<std::int64_t>(retention.count()))
            .add(static_cast<std::int64_t>(limit))
    );
    if (!removed) return removed.error();
    // Perhaps no index helps, and all delivered rows were read to find these: then not so soon
    // again.
    const bool few = removed->changed() < static_cast<std::int64_t>(limit);
    if (few) clean_up_at_ = clock_.now() + (clock_.now() - start) * kCleanUpRest;
    return static_cast<std::uint64_t>(removed->changed());
}

}  // namespace outrider::table
