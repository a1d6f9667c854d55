#pragma once

#include <memory>
#include <span>

#include "outrider/destination.h"

#include "core/batch.h"
#include "core/decide.h"
#include "core/logbook.h"
#include "core/result.h"
#include "core/waker.h"

namespace outrider {

// The hot seam: one connection to the database, for one destination. One thread at a time.
class Store {
public:
    virtual ~Store() = default;

    // Locks free lanes and reads what is due for the destination: parked messages first, then what
    // is new in the log, within the limits (a single message may be larger than `bytes`). Lanes in
    // other hands are skipped, never waited for. A batch without envelopes: nothing is due, or its
    // flags say why not.
    [[nodiscard]] virtual Result<Batch> claim(const BatchLimits& limits) = 0;

    // Moves the cursors and writes what was parked and what died, whole or not at all; in a table
    // that is not ours as much of it as the table takes, and the error says what it does not.
    // `settlements[i]` is for `batch.envelopes[i]`. The cursor of a lane moves up to the first
    // envelope from the log that was left; behind it in the same lane everything is left.
    // Remedy::wait: it may or may not have happened. Remedy::yield: the claim was lost and nothing
    // changed.
    [[nodiscard]] virtual Result<void> settle(
        Batch batch,
        std::span<const Settlement> settlements
    ) = 0;

    // Writes something that changes nothing, and commits it: asked after a settle that failed,
    // before anything is published again, since a database that cannot be written to (full, locked)
    // would have the same messages published in every turn. A store that cannot tell says yes.
    [[nodiscard]] virtual Result<void> try_writing() { return {}; }
};

class Observer;
class StoreAdmin;

// A database, and how to reach it. Safe from any thread; must outlive what it opens.
class StoreDriver {
public:
    virtual ~StoreDriver() = default;

    // A connection for a destination. The destination becomes known to the database with the first
    // of them, and its topics and order are recorded there.
    [[nodiscard]] virtual Result<std::unique_ptr<Store>> open(const Destination& destination) = 0;

    // For operators. The database may still lack our tables.
    enum class IfMissing : std::uint8_t { fail, create };
    [[nodiscard]] virtual Result<std::unique_ptr<StoreAdmin>> open_admin(IfMissing if_missing) = 0;

    // For destinations whose broker runs in the relay's own process; the destination is known to
    // the database. `session`: of this relay, the same for as long as it lives. Nothing: this
    // database keeps none, and a handler that ends the process may do so again and again.
    [[nodiscard]] virtual Result<std::unique_ptr<Logbook>> open_logbook(
        const Destination& /*destination*/,
        std::uint64_t /*session*/
    ) {
        return std::unique_ptr<Logbook>();
    }

    // What a worker of this database sleeps on. Must not outlive the observer, which hears of it
    // when workers have to do with less than they were promised.
    [[nodiscard]] virtual std::unique_ptr<Waker> make_waker(Observer& observer) = 0;
};

}  // namespace outrider
