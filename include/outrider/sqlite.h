#pragma once

#include <span>
#include <vector>

#include "outrider/event.h"
#include "outrider/message.h"

struct sqlite3;

// For applications with a SQLite database. Needs SQLite and nothing else.
//
// One of three styles, all of them with your own rows in the same transaction:
//
//     outrider::enqueue(database, message);              // inside a transaction that you opened
//
//     auto unit = outrider::begin(database);             // sqlite_unit.h
//     unit.enqueue(message);
//     unit.commit();
//
//     outrider::transactional(database, [&](auto& tx) { tx.enqueue(message); });
namespace outrider::sqlite {

// Writes the message inside the transaction that is open on `database`, and returns its id. It
// becomes visible to relays when that transaction commits, and never if it rolls back.
//
// Throws Failure, having written nothing: Remedy::correct if no transaction is open (a message
// outside one is a promise nobody keeps), if the message breaks a limit, or if the tables are
// missing; Remedy::wait if the database is busy or full. Use it from the thread that uses the
// connection.
MessageId enqueue(sqlite3* database, const Message& message, const EnqueueOptions& options = {});

// The same for many messages, in their order: all of them or none.
std::vector<MessageId> enqueue(
    sqlite3* database,
    std::span<const Message> messages,
    const EnqueueOptions& options = {}
);

// The same for an event of your own type; see event.h.
template <Event E>
MessageId enqueue(sqlite3* database, const E& event, const EnqueueOptions& options = {}) {
    return enqueue(database, to_message(event), options);
}

// Creates or updates Outrider's tables (all named outrider_...) and switches the database to WAL
// mode, which relays need to read beside writers. Does nothing where that is done. Not to be called
// inside a transaction. Safe when two processes do it at once. Throws Failure.
void migrate(sqlite3* database);

}  // namespace outrider::sqlite

namespace outrider {
using sqlite::enqueue;
}  // namespace outrider
