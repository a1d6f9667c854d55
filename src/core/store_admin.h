#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "outrider/destination.h"

#include "core/batch.h"
#include "core/finding.h"
#include "core/result.h"

namespace outrider {

struct DestinationStatus {
    std::string name;
    std::vector<std::string> topics;
    std::uint64_t pending = 0;                   // new in the log, not yet tried
    std::optional<Duration> oldest_pending_age;  // of those

    // Of the pending ones: those that a relay of this process holds back, where the store itself
    // cannot tell.
    std::uint64_t held_back = 0;
    std::uint64_t parked = 0;   // wait for another try, for their time, or behind such a message
    std::string parked_reason;  // why one of the oldest of those was refused; empty: none was
    std::uint64_t blocked_keys = 0;  // keys that have a parked or holding dead message
    std::uint64_t dead = 0;
    std::uint64_t delivered = 0;  // since the destination exists

    // Counting what is pending, parked or dead ended here: who has so many has at least so many. 0:
    // all were counted.
    std::uint64_t count_max = 0;
    double rate = 0;  // deliveries a second, lately
    bool paused = false;
    bool relay_running = false;  // somebody serves it right now
    CircuitState circuit = CircuitState::closed;
    std::string circuit_reason;  // why it is not closed
};

struct UnroutedTopic {
    std::string topic;
    std::uint64_t messages = 0;
};

struct Backlog {
    std::vector<DestinationStatus> destinations;  // by name
    std::vector<UnroutedTopic> unrouted;  // kept messages that no destination takes, by topic
};

// A dead letter with everything an operator needs to judge it.
struct DeadLetter {
    std::string destination;
    std::int64_t seq = 0;
    MessageId id;
    std::string topic;
    std::string key;
    std::string type;
    std::string content_type;
    std::string payload;  // empty in listings
    std::vector<Header> headers;
    std::optional<WallTime> occurred_at;  // both: null where a table does not say
    std::uint32_t attempts = 0;
    std::string error;
    std::optional<WallTime> died_at;
    bool holds_key = false;
};

// Which dead letters. Every field that is set must match.
struct DeadFilter {
    std::optional<std::string> destination;
    std::optional<MessageId> id;
    std::optional<std::string> topic;  // a pattern
    std::optional<std::string> key;
    std::size_t limit = 100;  // at most this many, oldest first
};

// Which messages of the history of a destination. Every field that is set must match.
struct ReplayFilter {
    std::string destination;
    std::optional<std::int64_t> from_seq;  // this number of the log, or a later one
    std::optional<WallTime> from_time;     // happened then or later
    std::optional<std::string> topic;      // a pattern
    std::optional<std::string> key;
};

// What adopt() found and did.
struct Adoption {
    bool has_log = true;  // false: an existing table, which is at home wherever it is
    bool was_foreign = false;
    std::uint64_t carried_over = 0;  // messages that wait now, as no destination had handled them
    bool follows_promotions = false;
};

struct SchemaVersion {
    int installed = 0;  // 0: none
    int newest = 0;     // known to this build

    // What migrate() was not allowed to do and somebody else has to; whole sentences. Of a version
    // that was only asked for: what a relay should say when it starts.
    std::vector<std::string> remarks = {};
};

// The cold seam: what operators do, by command line and page. One thread at a time. Every change is
// one transaction and safe beside running relays.
class StoreAdmin {
public:
    virtual ~StoreAdmin() = default;

    [[nodiscard]] virtual Result<SchemaVersion> schema_version() = 0;

    // Brings the schema to the newest version; does nothing where it is. Safe when two do it at
    // once.
    [[nodiscard]] virtual Result<SchemaVersion> migrate() = 0;

    // The statements that migrate() would run on an empty database, for a DBA.
    [[nodiscard]] virtual std::string schema_text() = 0;

    // How everything stands. `expected`: destinations that should be there; those that no relay has
    // made known to the store yet are reckoned as if one were about to, so that what waits is seen
    // before the first relay runs.
    [[nodiscard]] virtual Result<Backlog> backlog(const std::vector<Destination>& expected) = 0;

    [[nodiscard]] virtual Result<std::vector<DeadLetter>> dead_letters(const DeadFilter& filter
    ) = 0;

    // All copies of one message, payload included: a message may have died on its way to several
    // destinations.
    [[nodiscard]] virtual Result<std::vector<DeadLetter>> dead_letter(const MessageId& id) = 0;

    // Back on their way, with the same id and a fresh count of tries. Returns how many.
    [[nodiscard]] virtual Result<std::uint64_t> replay_dead(const DeadFilter& filter) = 0;

    // Gone for good. Returns how many.
    [[nodiscard]] virtual Result<std::uint64_t> discard_dead(const DeadFilter& filter) = 0;

    // Sends messages that a destination has passed, and the log still keeps, on their way once
    // more, with the same id and a fresh count of tries; `dry_run` only counts them. They wait like
    // messages that were refused: those of a key go out in their old order, and what the
    // destination has not received of that key when the replay is asked for comes behind them (on
    // SQLite save what is in flight at that moment). What waits or died already is left alone.
    // All of a key is replayed, or nothing of it. Nothing: no such destination.
    [[nodiscard]] virtual Result<std::optional<std::uint64_t>> replay(
        const ReplayFilter& filter,
        bool dry_run
    ) = 0;

    // Looks for what is wrong, or could go wrong, with the database as a store: read-only, and
    // bounded in what it reads. How destinations stand is in backlog().
    [[nodiscard]] virtual Result<std::vector<Finding>> examine() = 0;

    // Takes over a log that was restored from a dump, copied, or promoted with its server, and that
    // relays therefore refuse: nothing is lost and nothing repeated. Only when nobody relays the
    // original any more. `follow_promotions`: whether a promotion of this cluster needs no adoption
    // from now on; null: as before. Stores whose logs may be moved freely do nothing.
    [[nodiscard]] virtual Result<Adoption> adopt(std::optional<bool> follow_promotions) = 0;

    // A paused destination is not claimed for until resumed. False: no such destination.
    [[nodiscard]] virtual Result<bool> set_paused(std::string_view destination, bool paused) = 0;

    // Removes a destination's progress, parked messages and dead letters, so that it no longer
    // holds back clean-up. Remedy::yield while a relay serves it. False: no such destination.
    [[nodiscard]] virtual Result<bool> forget(std::string_view destination) = 0;

    // Notes what a relay knows of a destination's broker, for status.
    [[nodiscard]] virtual Result<void> note_circuit(
        std::string_view destination,
        CircuitState state,
        std::string_view reason
    ) = 0;

    // Removes up to `limit` messages that every destination has passed and that are older than
    // `retention`. Returns how many, or how many segments where they go by these: fewer than
    // `limit` means that there is no more for now.
    [[nodiscard]] virtual Result<std::uint64_t> clean_up(Duration retention, std::size_t limit) = 0;

    // Removes up to `limit` records of the inbox whose retention, chosen by the consumer that wrote
    // them, is over. Returns how many, as above. A store without an inbox has nothing to remove.
    [[nodiscard]] virtual Result<std::uint64_t> clean_inbox(std::size_t /*limit*/) {
        return std::uint64_t{0};
    }
};

}  // namespace outrider
