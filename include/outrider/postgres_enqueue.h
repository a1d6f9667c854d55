#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "outrider/error.h"
#include "outrider/postgres.h"

// More ways to enqueue on PostgreSQL, for those who count round trips: a statement for any client,
// libpq's pipeline mode, and COPY.
namespace outrider::postgres {

// An enqueue as text and parameters, for clients that Outrider does not know (Qt, userver, Drogon,
// ODBC and whatever comes). Run it inside the transaction that writes your own rows. Nothing here
// can see whether one is open: outside of one, most clients commit the message alone, so let the
// function that runs it take your client's transaction type. Nor can it see the connection's
// client_encoding, which must be UTF8 unless all texts are ASCII: takes_utf8().
struct EnqueueStatement {
    // One statement with $1 to $9. It returns no rows.
    std::string text;

    // Its parameters in PostgreSQL's text form, bytes included. Nothing: null. No types need to be
    // named, and no value contains a NUL.
    std::vector<std::optional<std::string>> parameters;

    // The messages' ids, in their order.
    std::vector<MessageId> ids;

    // The parameters as C clients like them; null pointers are nulls. They live as long as this.
    [[nodiscard]] std::vector<const char*> values() const;
};

// Throws Failure (correct) if a message breaks a limit, or there is none.
[[nodiscard]] EnqueueStatement enqueue_statement(
    const Message& message,
    const PostgresEnqueueOptions& options = {}
);
[[nodiscard]] EnqueueStatement enqueue_statement(
    std::span<const Message> messages,
    const PostgresEnqueueOptions& options = {}
);

// A server takes no statement of more than 1 GiB, and bytes are text of twice their size in it: of
// more messages than 64 MiB, this runs a statement for each part but the last, and returns the last
// (most often all of them). Throws Failure (correct), having run none, if a message breaks a limit.
[[nodiscard]] std::span<const Message> write_all_but_last(
    std::span<const Message> messages,
    const PostgresEnqueueOptions& options,
    const std::function<void(const EnqueueStatement&)>& run
);

// The last statement of a transaction, for those who write a unit of work for another client: it
// writes the messages (there may be none) and returns one row with the transaction's id as text, or
// null where the transaction has written nothing. The id resolves a commit whose answer was lost.
[[nodiscard]] EnqueueStatement last_statement(
    std::span<const Message> messages,
    const PostgresEnqueueOptions& options = {}
);

// Whether a connection with these encodings, by the names of the server's parameters
// client_encoding and server_encoding, hands UTF-8 to the database as UTF-8. Another one stores
// other letters than it is given, or none that could be read: ask before you run a statement.
[[nodiscard]] bool takes_utf8(std::string_view client_encoding, std::string_view server_encoding);

// For where it does not: throws Failure (correct) if a topic, key, type, content type or header is
// not plain ASCII. Payloads are bytes, and never converted.
void require_ascii(std::span<const Message> messages);

// What an SQLSTATE and its text mean to an application in its own transaction. Remedy::yield: run
// the transaction again.
[[nodiscard]] Error error_for(std::string_view sqlstate, std::string text);

// An enqueue that is on its way in a pipeline.
struct PipelinedEnqueue {
    MessageId id;
    int results = 1;  // how many results the server will send for it
};

// Adds an enqueue to libpq's pipeline, which must be on, without waiting for anything: it travels
// with your own statements and costs no round trip. A BEGIN must be in front of it, sent or
// answered; if it is not, the server refuses, and receive_enqueue() says so.
//
// Throws Failure (correct), having sent nothing, if the connection is not in pipeline mode, no
// transaction can be open, or the message breaks a limit; Remedy::wait if the connection is lost.
[[nodiscard]] PipelinedEnqueue send_enqueue(
    pg_conn* connection,
    const Message& message,
    const PostgresEnqueueOptions& options = {}
);

// Reads the answer, at its place among the results of your own statements: after PQgetResult has
// ended the statement before, and before you read the one behind. Blocks until it has arrived, so a
// sync or flush must have been sent.
//
// Throws Failure if the message was not written: what the server said, or Remedy::correct if a
// statement before it in the pipeline failed. Either way the answer has been read to its end.
void receive_enqueue(pg_conn* connection, const PipelinedEnqueue& sent);

// Writes many messages by COPY BINARY, in their order: the fastest way for hundreds and more. The
// same rules as enqueue(): only inside an open transaction, all of them or none. Memory does not
// grow with their number. An error leaves the transaction fit only for a rollback.
std::vector<MessageId> copy(
    pg_conn* connection,
    std::span<const Message> messages,
    const PostgresEnqueueOptions& options = {}
);

}  // namespace outrider::postgres
