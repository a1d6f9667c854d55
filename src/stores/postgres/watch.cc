// For users' tests: what was enqueued since.

#include "outrider/testing.h"

#include "stores/postgres/caller.h"
#include "stores/postgres/sql.h"
#include "stores/postgres/statement.h"

namespace outrider::testing {
namespace {

using postgres::Names;
using postgres::Parameters;
using postgres::Rows;

Rows ask(PGconn* connection, const std::string& sql, const Parameters& parameters = {}) {
    const std::vector<const char*> values = parameters.pointers();
    Rows rows(PQexecParams(
        connection, sql.c_str(), parameters.count(), nullptr, values.data(), nullptr, nullptr, 1
    ));
    if (PQresultStatus(rows.get()) == PGRES_TUPLES_OK) return rows;
    throw Failure(postgres::application_error(connection, rows.get()));
}

std::vector<Header> headers_of(PGconn* connection, const Names& names, std::int64_t seq) {
    const Rows rows =
        ask(connection, names.fill(postgres::sql::watch_headers), Parameters().add(seq));
    std::vector<Header> headers;
    for (int row = 0; row < rows.count(); ++row) {
        headers.push_back({std::string(rows.bytes(row, 0)), std::string(rows.bytes(row, 1))});
    }
    return headers;
}

std::optional<WallTime> time_of(const Rows& rows, int row, int column) {
    if (rows.is_null(row, column)) return std::nullopt;
    return WallTime(Duration(rows.integer(row, column)));
}

std::vector<Message> messages_after(PGconn* connection, const Names& names, std::int64_t seq) {
    const Rows rows =
        ask(connection, names.fill(postgres::sql::watch_messages), Parameters().add(seq));
    std::vector<Message> messages;
    for (int row = 0; row < rows.count(); ++row) {
        Message message;
        message.id = MessageId::parse(rows.bytes(row, 1));
        message.topic = rows.bytes(row, 2);
        message.key = rows.bytes(row, 3);
        message.type = rows.bytes(row, 4);
        message.payload = rows.bytes(row, 5);
        message.content_type = rows.bytes(row, 6);
        message.occurred_at = time_of(rows, row, 7);
        message.deliver_after = time_of(rows, row, 8);
        message.headers = headers_of(connection, names, rows.integer(row, 0));
        messages.push_back(std::move(message));
    }
    return messages;
}

Names names_of(std::string schema) {
    postgres::PostgresEnqueueOptions options;
    options.schema = std::move(schema);
    return postgres::names_of(options);
}

}  // namespace

EnqueueWatch::EnqueueWatch(pg_conn* connection, std::string schema) {
    const Names names = names_of(std::move(schema));
    const std::int64_t from = ask(connection, names.fill(postgres::sql::last_number)).integer(0, 0);
    look_ = [connection, names, from] { return messages_after(connection, names, from); };
}

}  // namespace outrider::testing
