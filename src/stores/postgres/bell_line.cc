#include "stores/postgres/bell_line.h"

#include <algorithm>
#include <array>

#include <poll.h>

#include "core/clock.h"
#include "core/hash.h"
#include "stores/postgres/sql.h"

namespace outrider::postgres {

Result<BellLine> BellLine::open(const std::string& conninfo, Names names) {
    Result<Connection> connection = Connection::open(conninfo);
    if (!connection) return connection.error();
    BellLine line(std::move(connection).value(), std::move(names));
    if (line.is_deaf()) return line;
    // A bell that is lost with the server is raised again by the relay that comes back.
    Result<void> listening = line.connection_.run_script(
        line.names_.fill("set synchronous_commit = off; listen \"{channel}\"")
    );
    if (!listening) return listening.error();
    return line;
}

Result<Rows> BellLine::run(std::string_view sql, const Parameters& parameters) const {
    return connection_.run(names_.fill(sql), parameters);
}

std::int64_t sleepers_lock(const Names& names) {
    return order_key(Order::key, "outrider sleepers", names.schema(), 0);
}

Result<Rows> BellLine::lock(std::string_view function) const {
    const std::string key = std::to_string(sleepers_lock(names_));
    return run("select " + std::string(function) + "(" + key + ")");
}

Result<void> BellLine::set(bool awake) const {
    const std::string text = with_register_lock(sql::bell_set, names_);
    return connection_.run_script(names_.fill(Names::fill(text, "awake", awake ? "true" : "false"))
    );
}

Result<void> BellLine::raise() {
    const Result<Rows> shared = lock("pg_advisory_lock_shared");
    if (!shared) return shared.error();
    if (Result<void> raised = set(false); !raised) return raised;
    // A writer draws its id before it looks at the bell. Whoever looked before it was raised has an
    // id below one that is drawn now.
    const Result<Rows> drawn = run(sql::bell_draw);
    if (!drawn) return drawn.error();
    barrier_ = drawn->integer(0, 0);
    const Result<std::int64_t> unended = count_unended();
    if (!unended) return unended.error();
    unended_ = *unended;
    return {};
}

Result<void> BellLine::lower() {
    const Result<Rows> left = lock("pg_advisory_unlock_shared");
    if (!left) return left.error();
    const Result<Rows> alone = lock("pg_try_advisory_lock");
    if (!alone) return alone.error();
    if (!alone->boolean(0, 0)) return {};
    if (Result<void> lowered = set(true); !lowered) return lowered;
    const Result<Rows> unlocked = lock("pg_advisory_unlock");
    if (!unlocked) return unlocked.error();
    return {};
}

Result<std::int64_t> BellLine::count_unended() {
    const std::string barrier = std::to_string(barrier_);
    const Result<Rows> rows = run(sql::bell_unended, Parameters().add(std::string_view(barrier)));
    if (!rows) return rows.error();
    return std::int64_t{rows->count()};
}

Result<bool> BellLine::has_one_ended() {
    const Result<std::int64_t> now = count_unended();
    if (!now) return now.error();
    return *now < std::exchange(unended_, *now);
}

Result<int> BellLine::listen(int other, MonoTime until) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - SystemClock().now());
    const auto patience = std::clamp<std::int64_t>(left.count(), 0, 60'000);
    std::array<pollfd, 2> fds = {{
        {.fd = PQsocket(connection_.get()), .events = POLLIN, .revents = 0},
        {.fd = other, .events = POLLIN, .revents = 0},
    }};
    ::poll(fds.data(), fds.size(), static_cast<int>(patience));
    if (PQconsumeInput(connection_.get()) == 0) return connection_.error();
    int rings = 0;
    while (PGnotify* ring = PQnotifies(connection_.get())) {
        PQfreemem(ring);
        ++rings;
    }
    return rings;
}

Result<std::int64_t> BellLine::waiting() {
    const Result<Rows> rows = run(sql::bell_waiting);
    if (!rows) return rows.error();
    return rows->integer(0, 0);
}

Result<std::int64_t> BellLine::traffic() {
    const Result<Rows> rows = run(sql::last_number);
    if (!rows) return rows.error();
    return rows->integer(0, 0);
}

}  // namespace outrider::postgres
