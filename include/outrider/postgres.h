#pragma once

#include <span>
#include <string>
#include <vector>

#include "outrider/event.h"
#include "outrider/message.h"

struct pg_conn;  // libpq's PGconn

// For applications with a PostgreSQL database and libpq. Needs libpq and nothing else.
//
// One of three styles, all of them with your own rows in the same transaction:
//
//     outrider::enqueue(connection, message);            // inside a transaction that you opened
//
//     auto unit = outrider::begin(connection);           // postgres_unit.h
//     unit.enqueue(message);
//     unit.commit();
//
//     outrider::transactional(connection, [&](auto& tx) { tx.enqueue(message); });
//
// postgres_enqueue.h has pipelines, COPY and a statement for other clients; pqxx.h is for libpqxx.
namespace outrider::postgres {

// How to write messages to a PostgreSQL log.
struct PostgresEnqueueOptions : EnqueueOptions {
    // Where the tables are. Letters, digits and underscores. Default "outrider".
    std::string schema = "outrider";
};

// Writes the message inside the transaction that is open on `connection`, in one round trip, and
// returns its id. It becomes visible to relays when that transaction commits, and never if it rolls
// back.
//
// Throws Failure, having written nothing: Remedy::correct if no transaction is open (a message
// outside one is a promise nobody keeps), if the message breaks a limit, if the tables are missing,
// or if it has texts beyond ASCII and the connection's client_encoding is not UTF8; otherwise what
// the server said, and then the transaction can only be rolled back. The connection must not be in
// pipeline mode. Use it from the thread that uses the connection.
MessageId enqueue(
    pg_conn* connection,
    const Message& message,
    const PostgresEnqueueOptions& options = {}
);

// The same for many messages, in their order, in one round trip (or one for every 64 MiB): all of
// them or none.
std::vector<MessageId> enqueue(
    pg_conn* connection,
    std::span<const Message> messages,
    const PostgresEnqueueOptions& options = {}
);

// The same for an event of your own type; see event.h.
template <Event E>
MessageId enqueue(pg_conn* connection, const E& event, const PostgresEnqueueOptions& options = {}) {
    return enqueue(connection, to_message(event), options);
}

}  // namespace outrider::postgres

namespace outrider {
using postgres::enqueue;
}  // namespace outrider
