#pragma once

#include <cstdint>
#include <string>

#include "outrider/inbox.h"

struct pg_conn;  // libpq's PGconn

namespace outrider::postgres {

struct PostgresInboxOptions : InboxOptions {
    // Where the tables are. Letters, digits and underscores. Default "outrider".
    std::string schema = "outrider";
};

// The record of one arrival in the transaction that is open on a connection: one round trip. Ends
// without keep(): the transaction can only be rolled back, or back to a savepoint before it.
class InboxEntry {
public:
    InboxEntry(
        pg_conn* connection,
        std::string_view consumer,
        const Arrival& arrival,
        const PostgresInboxOptions& options
    );
    ~InboxEntry();
    InboxEntry(const InboxEntry&) = delete;
    InboxEntry& operator=(const InboxEntry&) = delete;

    [[nodiscard]] const Receipt& receipt() const { return receipt_; }
    void keep() { kept_ = true; }

private:
    pg_conn* connection_;
    Receipt receipt_;
    bool kept_ = false;
};

// Remembers in a PostgreSQL database which messages have had their effect.
//
//     const outrider::postgres::Inbox inbox;
//     begin(connection);
//     inbox.once(connection, "billing", message_id, [&] { charge(connection, order); });
//     commit(connection);  // and only then acknowledge the message to its broker
//
// A value without a connection of its own; safe from any thread.
class Inbox {
public:
    explicit Inbox(PostgresInboxOptions options = {}) : options_(std::move(options)) {}

    // Runs `effect` the first time this consumer meets the message, never again. Record, effect and
    // whatever the effect enqueues are one transaction, the caller's own, which must be open.
    // Copies that arrive while the first is under way wait until that one has committed or rolled
    // back. A repeat costs the transaction nothing: it goes on as if nothing had happened.
    //
    // An exception of the effect goes on to the caller; whatever it left, the transaction can then
    // only be rolled back, as a whole or to before this call: whoever rolls back to a savepoint
    // that the effect made, and commits, keeps the record without the effect. Results that it did
    // not read are read away, and a pipeline that it left on is off. Throws Failure:
    // Remedy::correct if no transaction is open, if the message has no id, or if the tables are
    // missing; Remedy::yield if the isolation level of the transaction asks for a fresh one (a copy
    // was committed since it began). The connection must not be in pipeline mode. Use it from the
    // thread that uses the connection.
    template <class Effect>
    Receipt once(
        pg_conn* connection,
        std::string_view consumer,
        const Arrival& arrival,
        Effect&& effect
    ) const {
        InboxEntry entry(connection, consumer, arrival, options_);
        return run_once(entry, arrival, options_, std::forward<Effect>(effect));
    }

    // Forgets at most `limit` messages whose time of retention is over, and returns how many; fewer
    // than `limit` means that there are no more for now. A relay that runs on the database does the
    // same by itself. Throws Failure.
    std::uint64_t clean_up(pg_conn* connection, std::size_t limit = 1000) const;

private:
    PostgresInboxOptions options_;
};

// For adapters to further client libraries: the statement behind an entry. Its parameters, as text:
// consumer, id, topic, key, position or null, retention as an interval. Its one row: whether the id
// was new, and the highest position of the key before, or null; judge() makes a receipt of them.
[[nodiscard]] std::string inbox_statement(std::string_view schema = "outrider");

}  // namespace outrider::postgres
