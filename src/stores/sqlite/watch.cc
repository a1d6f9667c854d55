// For users' tests: what was enqueued since.

#include "outrider/error.h"
#include "outrider/testing.h"

#include "core/clock.h"
#include "stores/sqlite/connection.h"
#include "stores/sqlite/sql.h"

namespace outrider::testing {
namespace {

using sqlite::Statement;

Statement prepare(sqlite3* database, std::string_view sql) {
    Result<Statement> statement = Statement::prepare(database, sql);
    if (!statement) throw Failure(statement.error());
    return std::move(statement).value();
}

bool next(Statement& statement) {
    const Result<bool> row = statement.step();
    if (!row) throw Failure(row.error());
    return *row;
}

std::int64_t newest(sqlite3* database) {
    Statement statement = prepare(database, sqlite::sql::watch_newest);
    return next(statement) ? statement.integer(0) : 0;
}

std::vector<Header> headers_of(sqlite3* database, std::int64_t seq) {
    std::vector<Header> headers;
    Statement statement = prepare(database, sqlite::sql::watch_headers);
    statement.bind(1, seq);
    while (next(statement)) {
        headers.push_back({std::string(statement.text(0)), std::string(statement.text(1))});
    }
    return headers;
}

std::optional<WallTime> time_of(const std::optional<std::int64_t>& millis) {
    return millis ? std::optional(from_millis(*millis)) : std::nullopt;
}

std::vector<Message> messages_after(sqlite3* database, std::int64_t seq) {
    std::vector<Message> messages;
    Statement statement = prepare(database, sqlite::sql::watch_messages);
    statement.bind(1, seq);
    while (next(statement)) {
        Message message;
        message.id = MessageId::parse(statement.text(1));
        message.topic = statement.text(2);
        message.key = statement.text(3);
        message.type = statement.text(4);
        message.payload = statement.bytes(5);
        message.content_type = statement.text(6);
        message.occurred_at = time_of(statement.maybe_integer(7));
        message.deliver_after = time_of(statement.maybe_integer(8));
        message.headers = headers_of(database, statement.integer(0));
        messages.push_back(std::move(message));
    }
    return messages;
}

}  // namespace

EnqueueWatch::EnqueueWatch(sqlite3* database)
    : look_([database, from = newest(database)] { return messages_after(database, from); }) {
}

}  // namespace outrider::testing
