#pragma once

#include <vector>

#include "core/finding.h"
#include "core/result.h"
#include "stores/postgres/connection.h"
#include "stores/postgres/names.h"

namespace outrider::postgres {

// A transaction that holds back truncation.
struct Holder {
    std::string name;  // "pid 123 of shop", or "prepared transaction 'x' of shop"
    std::int64_t seconds = 0;
    std::string since;  // when its last statement began
};

// Work that waits in lanes that nobody has moved.
struct StuckLanes {
    std::string destination;
    std::int64_t lanes = 0;
    std::int64_t seconds = 0;  // the oldest message
};

// What the doctor looks at, as plain values.
struct DoctorFacts {
    std::int64_t server_version = 0;  // 150004
    bool standby = false;
    bool pooled = false;
    bool read_only = false;  // transactions are, by default
    std::int64_t schema_installed = 0;
    std::int64_t schema_newest = 0;
    std::string foreign;  // why the log does not belong here; empty: it does
    std::vector<std::string> missing_roles;
    std::vector<std::string> missing_rights;  // of this user, to relay: "select on cursor"
    std::vector<std::string> xid_writers;     // who may insert the column xid
    bool sees_sessions = true;
    bool fsync = true;
    bool full_page_writes = true;
    bool autovacuum = true;
    std::vector<std::string> unvacuumed;    // our tables with autovacuum off
    std::vector<std::string> lazy_commits;  // where synchronous_commit is off by default
    std::vector<std::string> idle_slots;    // replication slots that nobody reads
    std::int64_t async_standbys = 0;        // attached, and nobody waits for them
    std::int64_t transaction_timeout = 0;   // milliseconds, 0: none
    std::string encoding = "UTF8";          // of the database
    std::int64_t sequence_cache = 1;
    bool sequence_set_back = false;  // below what a cursor has passed
    bool active_is_open = true;      // the segment that writers write to
    bool rings_for_nobody = false;   // a relay died while it slept
    std::vector<Holder> holders;
    std::vector<StuckLanes> stuck;
    std::int64_t clock_offset_millis = 0;  // server minus us
};

// What there is to say about them. Pure.
[[nodiscard]] std::vector<Finding> judge(const DoctorFacts& facts);

// Reads the facts; those of the log only where its schema is that of this build.
[[nodiscard]] Result<DoctorFacts> read_facts(const Connection& connection, const Names& names);

}  // namespace outrider::postgres
