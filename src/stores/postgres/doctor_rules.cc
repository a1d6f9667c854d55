#include <cstdlib>

#include "stores/postgres/doctor.h"

namespace outrider::postgres {
namespace {

constexpr std::int64_t kOldestServer = 130000;
constexpr std::int64_t kNewestServer = 190000;  // not yet tried
constexpr std::int64_t kClockMillisMax = 5000;
constexpr std::int64_t kTurnMillis = 35'000;  // a publish deadline and its margin, by default

std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
    return text;
}

class Judge {
public:
    explicit Judge(const DoctorFacts& facts) : facts_(facts) {}

    std::vector<Finding> run() {
        server();
        schema();
        rights();
        settings();
        durability();
        log();
        return std::move(findings_);
    }

private:
    void say(Gravity gravity, std::string code, std::string what, std::string advice) {
        findings_.push_back({gravity, std::move(code), std::move(what), std::move(advice)});
    }

    void server() {
        const std::string version = std::to_string(facts_.server_version / 10000);
        if (facts_.server_version < kOldestServer) {
            say(Gravity::fault,
                "server_version",
                "PostgreSQL " + version + " is too old",
                "upgrade to 13 or later");
        }
        if (facts_.server_version >= kNewestServer) {
            say(Gravity::hint,
                "server_version",
                "PostgreSQL " + version + " is newer than what this build was tested with",
                "look for a newer outrider");
        }
        if (facts_.standby) {
            say(Gravity::fault,
                "standby",
                "the server is a standby",
                "point store.url to the primary, e.g. with target_session_attrs=read-write");
        }
        if (facts_.pooled) {
            say(Gravity::hint,
                "pooler",
                "a pooler stands between us and the server",
                "nothing is wrong, but relays wake by polling: let them connect directly for the "
                "doorbell");
        }
        if (std::abs(facts_.clock_offset_millis) > kClockMillisMax) {
            say(Gravity::warning,
                "clock",
                "the server's clock differs from this machine's by " +
                    std::to_string(facts_.clock_offset_millis / 1000) + " s",
                "synchronise both (NTP): due times and ages are reckoned by the server's");
        }
    }

    void schema() {
        const std::string has = std::to_string(facts_.schema_installed);
        const std::string knows = std::to_string(facts_.schema_newest);
        if (facts_.schema_installed < facts_.schema_newest) {
            say(Gravity::fault,
                "migration",
                "the tables have version " + has + ", this build needs " + knows,
                "run 'outrider migrate up'");
        }
        if (facts_.schema_installed > facts_.schema_newest) {
            say(Gravity::fault,
                "migration",
                "the tables have version " + has + ", this build knows " + knows,
                "use a newer outrider");
        }
        if (!facts_.foreign.empty()) {
            say(Gravity::fault,
                "identity",
                facts_.foreign,
                "when nobody relays the original any more, run 'outrider adopt'");
        }
    }

    void rights() {
        for (const std::string& missing : facts_.missing_roles) {
            say(Gravity::hint, "roles", missing, "or give your logins rights by other means");
        }
        if (!facts_.missing_rights.empty()) {
            say(Gravity::fault,
                "rights",
                "this user may not relay: it lacks " + joined(facts_.missing_rights),
                "grant it the schema's relay role");
        }
        if (!facts_.xid_writers.empty()) {
            say(Gravity::warning,
                "xid_writers",
                joined(facts_.xid_writers) + " may insert the columns xid, segment and seq",
                "grant the writer role instead: a row with an id of the writer's choice may never "
                "be delivered");
        }
        if (!facts_.sees_sessions) {
            say(Gravity::hint,
                "sessions",
                "this user does not see other users' sessions",
                "grant it pg_read_all_stats to have long transactions named here");
        }
    }

    void settings() {
        if (facts_.read_only) {
            say(Gravity::fault,
                "read_only",
                "transactions are read-only by default",
                "reset default_transaction_read_only for the relay's user");
        }
        if (!facts_.autovacuum) {
            say(Gravity::warning,
                "autovacuum",
                "autovacuum is off",
                "turn it on: the tables of cursors and parked messages grow without it");
        }
        if (!facts_.unvacuumed.empty()) {
            say(Gravity::warning,
                "autovacuum",
                "autovacuum is off for " + joined(facts_.unvacuumed),
                "alter table ... reset (autovacuum_enabled)");
        }
        if (facts_.encoding == "SQL_ASCII") {
            say(Gravity::warning,
                "encoding",
                "the database has the encoding SQL_ASCII, which checks nothing",
                "write topics, keys and types in UTF-8 only, since others become dead letters, or "
                "move to a database with the encoding UTF8");
        }
        if (facts_.encoding != "SQL_ASCII" && facts_.encoding != "UTF8") {
            say(Gravity::hint,
                "encoding",
                "the database has the encoding " + facts_.encoding,
                "have writers set client_encoding to UTF8 and check what they are given: a text "
                "with bytes that mean no character cannot be read and stops its destination");
        }
        if (facts_.transaction_timeout > 0 && facts_.transaction_timeout < kTurnMillis) {
            say(Gravity::warning,
                "transaction_timeout",
                "transaction_timeout ends turns after " +
                    std::to_string(facts_.transaction_timeout) + " ms",
                "set it above the publish deadline for the relay's user");
        }
    }

    void durability() {
        if (!facts_.fsync) {
            say(Gravity::fault,
                "fsync",
                "fsync is off: a crash may destroy the whole cluster",
                "turn it on");
        }
        if (!facts_.full_page_writes) {
            say(Gravity::warning,
                "full_page_writes",
                "full_page_writes is off: a power cut may destroy pages",
                "turn it on, unless the file system writes pages whole");
        }
        if (!facts_.lazy_commits.empty()) {
            say(Gravity::warning,
                "synchronous_commit",
                "synchronous_commit is off by default " + joined(facts_.lazy_commits),
                "turn it on for writers: a crash may take back a commit whose message was already "
                "published");
        }
        if (!facts_.idle_slots.empty()) {
            say(Gravity::warning,
                "replication_slot",
                "nobody reads the replication slots " + joined(facts_.idle_slots),
                "drop them or mend their readers: the server keeps all WAL for them");
        }
        if (facts_.async_standbys > 0) {
            say(Gravity::hint,
                "async_standby",
                std::to_string(facts_.async_standbys) + " standbys replicate asynchronously",
                "know that a failover may take back the last commits, published messages included; "
                "synchronous_standby_names prevents it");
        }
    }

    void log() {
        if (facts_.sequence_cache != 1) {
            say(Gravity::fault,
                "sequence_cache",
                "the sequence seq has CACHE " + std::to_string(facts_.sequence_cache) +
                    ": messages are delivered out of order",
                "alter sequence ... cache 1, and reconnect all writers");
        }
        if (facts_.sequence_set_back) {
            say(Gravity::fault,
                "sequence_set_back",
                "the sequence seq was set back below numbers that were delivered: new messages are "
                "not found",
                "set it above them: select setval('<schema>.seq', (select max(f) from "
                "<schema>.cursor)); what was written meanwhile must be enqueued again");
        }
        if (!facts_.active_is_open) {
            say(Gravity::fault,
                "active_segment",
                "the register active names no segment that is open: nobody can write, or what is "
                "written is kept and never cleaned up",
                "the log was restored or copied in part: run 'outrider adopt', and if it is at "
                "home already, select setval('<schema>.active', ...) to a segment that is open");
        }
        if (facts_.rings_for_nobody) {
            say(Gravity::warning,
                "bell",
                "writers ring for a relay that is gone: every commit waits for the one before it",
                "start a relay, or stop the ringing: select setval('<schema>.active', last_value) "
                "from <schema>.active");
        }
        for (const Holder& holder : facts_.holders) {
            say(Gravity::warning,
                "long_transaction",
                holder.name + " has a transaction open for " + std::to_string(holder.seconds) +
                    " s (last statement at " + holder.since + ") and holds back truncation",
                "end it: pg_terminate_backend, or commit or roll back what is prepared");
        }
        for (const StuckLanes& stuck : facts_.stuck) {
            say(Gravity::fault,
                "stuck_lanes",
                std::to_string(stuck.lanes) + " lanes of '" + stuck.destination +
                    "' have messages, and nobody has moved them for " +
                    std::to_string(stuck.seconds) + " s",
                "see that a relay runs with this destination, and what it logs");
        }
    }

    const DoctorFacts& facts_;
    std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> judge(const DoctorFacts& facts) {
    return Judge(facts).run();
}

}  // namespace outrider::postgres
