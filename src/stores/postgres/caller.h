#pragma once

#include "stores/postgres/connection.h"

// What enqueue and inbox do on a connection that belongs to the caller. Both throw Failure.
namespace outrider::postgres {

// Refuses (correct) a connection without an open transaction, or with one that has failed.
void require_transaction(PGconn* connection);

// One statement, its rows as text. Where our tables are missing, the error says what to do.
Rows run_for_caller(PGconn* connection, const std::string& sql, const Parameters& parameters);

}  // namespace outrider::postgres
