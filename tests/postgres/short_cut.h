#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "postgres/log.h"

// A reader as one would write it first, and the moves of the others, so that a test can step them.
// The short cuts that lose, repeat or reorder are made of these, in tests only; the right reader is
// the store.

namespace outrider::short_cut {

using Payloads = std::vector<std::string>;

// A window (p, s] of the log above a floor, without lanes.
struct Window {
    std::string p;
    std::int64_t floor = 0;
    std::string s;
    std::vector<int> segments = {1, 2, 3, 4};
};

// A server on which nobody else draws ids or takes locks behind the test's back.
inline PostgresServer& quiet_server() {
    static PostgresServer server("autovacuum = off");
    return server;
}

// Waits until a session of the database waits for a lock.
inline void wait_for_waiter(const PostgresSession& session) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (session.value("select count(*) from pg_stat_activity where wait_event_type = 'Lock' and "
                         "datname = current_database()") == "0") {
        if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("nobody waits");
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

inline std::string snapshot(const PostgresSession& session) {
    return session.value("select pg_current_snapshot()");
}

inline std::int64_t last_number(const PostgresSession& session) {
    return std::stoll(session.value("select coalesce(pg_sequence_last_value('outrider.seq'), 0)"));
}

// Draws a transaction id, and completes it unless a transaction is open.
inline std::int64_t draw_id(const PostgresSession& session) {
    return std::stoll(session.value("select pg_current_xact_id()"));
}

// The payloads of a window, by number: rows above the floor, and late ones by their ids.
inline Payloads read(const PostgresSession& session, const Window& window) {
    std::string rows;
    for (const int segment : window.segments) {
        const std::string from =
            "select seq, xid, payload from outrider.message_" + std::to_string(segment) + " where ";
        const std::string floor = std::to_string(window.floor);
        if (!rows.empty()) rows += " union all ";
        rows += from + "seq > " + floor + " union all " + from + "seq <= " + floor +
                " and xid in (select pg_snapshot_xip('" + window.p + "'))";
    }
    return session.column(
        "select convert_from(payload, 'UTF8') from (" + rows +
        ") m where pg_visible_in_snapshot(xid, '" + window.s +
        "') and not pg_visible_in_snapshot(xid, '" + window.p + "') order by seq"
    );
}

// The active segment becomes old enough to be left, and the next clean-up leaves it.
inline void age_segments(const PostgresSession& session) {
    session.run(
        "update outrider.segment set opened_at = opened_at - interval '1 hour', "
        "closed_at = closed_at - interval '1 hour'"
    );
}

}  // namespace outrider::short_cut
