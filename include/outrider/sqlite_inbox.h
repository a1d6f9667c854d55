#pragma once

#include <cstdint>
#include <memory>

#include "outrider/inbox.h"

struct sqlite3;

namespace outrider::sqlite {

class Savepoint;

// The record of one arrival in the transaction that is open on a connection. Ends without keep():
// everything since its beginning is undone, and the caller's transaction goes on; a unit of work
// can only be rolled back.
class InboxEntry {
public:
    InboxEntry(
        sqlite3* database,
        std::string_view consumer,
        const Arrival& arrival,
        const InboxOptions& options
    );
    ~InboxEntry();
    InboxEntry(const InboxEntry&) = delete;
    InboxEntry& operator=(const InboxEntry&) = delete;

    [[nodiscard]] const Receipt& receipt() const { return receipt_; }
    void keep();

private:
    sqlite3* database_;
    std::unique_ptr<Savepoint> savepoint_;
    Receipt receipt_;
    bool kept_ = false;
};

// Remembers in a SQLite database which messages have had their effect.
//
//     const outrider::sqlite::Inbox inbox;
//     begin_immediate(database);
//     inbox.once(database, "billing", message_id, [&] { charge(database, order); });
//     commit(database);  // and only then acknowledge the message to its broker
//
// A value without a connection of its own; safe from any thread.
class Inbox {
public:
    explicit Inbox(const InboxOptions& options = {}) : options_(options) {}

    // Runs `effect` the first time this consumer meets the message, never again. Record, effect and
    // whatever the effect enqueues are one transaction, the caller's own, which must be open; begin
    // it with `begin immediate`, so that copies wait for each other at its beginning. A repeat
    // costs the transaction nothing: it goes on as if nothing had happened.
    //
    // An exception of the effect goes on to the caller, and whatever the effect wrote is undone
    // with the record. A transaction of your own goes on. A unit of work (sqlite_unit.h) does not:
    // it still holds what the effect promised to enqueue, so its commit is refused, and savepoints
    // that you made in it are gone.
    //
    // Throws Failure: Remedy::correct if no transaction is open, if the message has no id, or if
    // the tables are missing; Remedy::wait if the database is busy or full.
    template <class Effect>
    Receipt once(
        sqlite3* database,
        std::string_view consumer,
        const Arrival& arrival,
        Effect&& effect
    ) const {
        InboxEntry entry(database, consumer, arrival, options_);
        return run_once(entry, arrival, options_, std::forward<Effect>(effect));
    }

    // Forgets at most `limit` messages whose time of retention is over, and returns how many; fewer
    // than `limit` means that there are no more for now. A relay that runs on the database does the
    // same by itself. Throws Failure.
    std::uint64_t clean_up(sqlite3* database, std::size_t limit = 1000) const;

private:
    InboxOptions options_;
};

}  // namespace outrider::sqlite
