#pragma once

#include <span>
#include <string_view>

#include "outrider/error.h"
#include "outrider/inbox.h"
#include "outrider/postgres_enqueue.h"

#include "stores/postgres/connection.h"

// What enqueue, inbox and units of work do on a connection that belongs to the caller.
namespace outrider::postgres {

// What an SQLSTATE means to an application in its own transaction. Remedy::yield is kept for what
// running the transaction again mends: serialization failure and deadlock.
[[nodiscard]] Remedy application_remedy(std::string_view sqlstate);

// What the server said, for an application. Where our tables are missing, it says what to do.
[[nodiscard]] Error application_error(PGconn* connection, const PGresult* result);

// Throws Failure (correct) in pipeline mode.
void require_plain_mode(PGconn* connection);

// Reads away whatever a pipeline still has under way, so that the connection can be spoken to
// again.
void leave_pipeline(PGconn* connection) noexcept;

// Throws Failure (correct) for a connection without an open transaction, or with one that has
// failed.
void require_transaction(PGconn* connection);

// Throws Failure (correct) if the connection would hand a text of these to the database as other
// letters: see takes_utf8() in postgres_enqueue.h.
void require_texts(PGconn* connection, std::span<const Message> messages);
void require_texts(PGconn* connection, const Arrival& arrival);

// One statement, its rows as text. Throws Failure.
Rows run_for_caller(PGconn* connection, const std::string& sql, const Parameters& parameters);

}  // namespace outrider::postgres
