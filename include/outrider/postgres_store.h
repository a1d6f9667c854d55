#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace outrider {

class StoreDriver;

namespace postgres {

// When a settle returns.
enum class Settle : std::uint8_t {
    fast,     // at once: a crash of the server repeats what was settled since its last WAL flush
    durable,  // when it is on disk
};

// How a relay that found nothing learns of new messages.
enum class Wake : std::uint8_t {
    doorbell,  // writers notify it while it sleeps, and only then
    notify,    // writers notify it always: cheap on a quiet log, dear on a busy one
    poll,      // it looks again and again: writers never notify anybody
};

// How to reach a log, and how to behave there.
struct Options {
    // Anything libpq takes: a URL or key=value pairs. May contain a password, so it is never shown.
    std::string conninfo;

    // Where our tables are: letters, digits and underscores. Default "outrider". Change it when two
    // services share a database and must not share a log.
    std::string schema = "outrider";

    // Default fast. Change it when a repetition after a crash of the server costs more than a WAL
    // flush per turn.
    Settle settle = Settle::fast;

    // Default doorbell. Behind a pooler in transaction mode everything is poll.
    Wake wake = Wake::doorbell;

    // Lanes of a log that is created by a migration; a power of two up to 256. Ignored where it
    // exists. Default 16. More lanes let more workers deliver side by side; each costs a row per
    // turn.
    std::size_t lanes = 16;

    bool operator==(const Options&) const = default;
};

// The log behind these options, for outrider::Relay. It is reached when the relay starts, and again
// whenever it was lost, so the server need not answer yet. Any number of relays may serve it side
// by side. Throws Failure when the schema's name is not one.
[[nodiscard]] std::shared_ptr<StoreDriver> open_store(const Options& options);

}  // namespace postgres
}  // namespace outrider
