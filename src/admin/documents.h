#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/store_admin.h"

// What operators read, as JSON with stable names: one document, one line. The same for command line
// and page. Text that is not UTF-8 is shown with replacement characters.
namespace outrider::admin {

// {"destinations": [{"name", "pending", "oldest_pending_seconds", "parked", "dead", "circuit",
// "rate", ...}], "unrouted": [{"topic", "messages"}]}
[[nodiscard]] std::string status_document(const Backlog& backlog);

// [{"id", "destination", "topic", "key", "attempts", "error", "died_at", ...}]
[[nodiscard]] std::string dead_list_document(const std::vector<DeadLetter>& letters);

// The same with headers and payload, or payload_base64 where it is not UTF-8.
[[nodiscard]] std::string dead_show_document(const std::vector<DeadLetter>& letters);

// {VERB: CHANGED, "matched": N, "dry_run": B}; the verb is "replayed" or "discarded".
struct DeadChange {
    std::string_view verb;
    std::uint64_t matched = 0;
    std::uint64_t changed = 0;
    bool dry_run = false;
};
[[nodiscard]] std::string dead_change_document(const DeadChange& change);

// [{"name", "topics", "configured", "paused", "relay_running", "circuit"}]
[[nodiscard]] std::string destinations_document(
    const Backlog& backlog,
    const std::vector<std::string>& configured
);

// {"name": NAME, WHAT: VALUE}
[[nodiscard]] std::string destination_change_document(
    std::string_view name,
    std::string_view what,
    bool value
);

// How a destination's broker was found. Durations in milliseconds.
struct BrokerFinding {
    std::string destination;
    std::string broker;  // its URL, masked
    bool connected = false;
    std::string server;
    std::string durability;
    std::string risk;      // empty: none
    std::string error;     // empty: none
    std::string probe_id;  // empty: nothing was published
    std::string probe_verdict;
    double probe_millis = 0;
};

// {"destination", "broker", "connected", "server", "durability", "risk", "error", "probe":
// {"id", "verdict", "milliseconds"}}; without a probe null.
[[nodiscard]] std::string broker_document(const BrokerFinding& finding);

// {"installed", "newest", "up_to_date", "remarks"}
[[nodiscard]] std::string schema_document(const SchemaVersion& version);

// {"was_foreign", "carried_over"}
[[nodiscard]] std::string adoption_document(const Adoption& adoption);

// {"id"}
[[nodiscard]] std::string enqueued_document(const MessageId& id);

// {"id", "outcome", "error"}; without an error null.
[[nodiscard]] std::string dispatched_document(
    std::string_view id,
    std::string_view outcome,
    std::string_view error
);

// {"error"}
[[nodiscard]] std::string error_document(std::string_view error);

// {"ok", "problems": [...]}
[[nodiscard]] std::string check_document(const std::vector<std::string>& problems);

struct BuildFacts {
    std::string version;
    std::string compiler;
    std::vector<std::string> stores;
    std::vector<std::string> brokers;
};

// {"version", "compiler", "stores", "brokers"}
[[nodiscard]] std::string version_document(const BuildFacts& facts);

// {"moved", "left_dead", "left_other", "forwards"}
[[nodiscard]] std::string import_document(
    std::uint64_t moved,
    std::uint64_t dead,
    std::uint64_t other,
    bool forwards
);

}  // namespace outrider::admin
