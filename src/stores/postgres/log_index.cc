#include "stores/postgres/log_index.h"

#include "stores/postgres/patience.h"
#include "stores/postgres/registration.h"
#include "stores/postgres/sql.h"

namespace outrider::postgres {
namespace {

// A build goes on after its client is gone, unless the server looks whether it is (from 14 on).
constexpr std::string_view kSettings =
    "select set_config('lock_timeout', $1, false), (select set_config(name, '1s', false) from "
    "pg_settings where name = 'client_connection_check_interval')";

// Dropped only if it is of no use: its builder was stopped half way.
Result<void> build_part(const Connection& connection, const Names& names, int segment) {
    const auto text = [&](std::string_view sql) {
        return names.fill(Names::fill(sql, "segment", std::to_string(segment)));
    };
    const Result<Rows> there = connection.run(text(sql::index_part));
    if (!there) return there.error();
    const bool is_empty = there->boolean(0, 0);
    const bool is_made = !there->is_null(0, 1);
    if (is_made ? there->boolean(0, 1) : is_empty) return {};
    if (is_made) {
        const Result<Rows> dropped =
            connection.run(text("drop index concurrently {schema}.message_{segment}_seq_idx"));
        if (!dropped) return dropped.error();
    }
    const Result<Rows> built =
        connection.run(text("create index concurrently message_{segment}_seq_idx on "
                            "{schema}.message_{segment} (seq)"));
    if (!built) return built.error();
    return {};
}

Error waits_for_others(const Connection& connection) {
    return {
        Remedy::yield,
        "the log's new index is built beside the writers, and is finished only when every "
        "transaction has ended that was open before: " +
            oldest_transaction(connection) +
            ". Nobody is held up. Wait for it, or end it, and run 'outrider migrate up' again"};
}

}  // namespace

std::string oldest_transaction(const Connection& connection) {
    const Result<Rows> oldest = connection.run(std::string(sql::oldest_transaction));
    if (!oldest || oldest->count() == 0) return "none is open any more";
    return std::string(oldest->bytes(0, 0));
}

// One at a time, and whoever comes second does not wait: a build waits for all who wait.
Result<void> build_index(const Connection& connection, const Names& names, Duration patience) {
    const Parameters lock = Parameters().add(lane_lock(names, 0, -3));
    const Result<Rows> mine = connection.run("select pg_try_advisory_lock($1)", lock);
    if (!mine) return mine.error();
    if (!mine->boolean(0, 0)) {
        return Error{
            Remedy::wait,
            "somebody else builds the log's new index: run 'outrider migrate up' again when that "
            "has ended"};
    }
    const Result<Rows> set = connection.run(
        std::string(kSettings), Parameters().add(std::string_view(setting_of(patience)))
    );
    Result<void> built = set ? Result<void>() : Result<void>(set.error());
    for (int segment = 1; segment <= kSegments && built; ++segment) {
        built = build_part(connection, names, segment);
    }
    const Result<Rows> unlocked = connection.run(
        "select pg_advisory_unlock($1), set_config('lock_timeout', '0', false)", lock
    );
    if (!built && built.error().native_code == native_code_of("55P03")) {
        return waits_for_others(connection);
    }
    if (built && !unlocked) return unlocked.error();
    return built;
}

}  // namespace outrider::postgres
