#pragma once

#include <span>
#include <string>
#include <vector>

#include "outrider/message.h"

struct pg_conn;  // libpq's PGconn

// For applications with a PostgreSQL database. Needs libpq and nothing else.
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
// outside one is a promise nobody keeps), if the message breaks a limit, or if the tables are
// missing; otherwise what the server said. The connection must not be in pipeline mode. Use it from
// the thread that uses the connection.
MessageId enqueue(
    pg_conn* connection,
    const Message& message,
    const PostgresEnqueueOptions& options = {}
);

// The same for many messages, in their order, in one round trip: all of them or none.
std::vector<MessageId> enqueue(
    pg_conn* connection,
    std::span<const Message> messages,
    const PostgresEnqueueOptions& options = {}
);

}  // namespace outrider::postgres
