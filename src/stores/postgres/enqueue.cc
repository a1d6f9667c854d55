#include "outrider/error.h"
#include "outrider/postgres.h"

#include "stores/postgres/caller.h"
#include "stores/postgres/statement.h"

namespace outrider::postgres {
namespace {

void run(PGconn* connection, const EnqueueStatement& statement) {
    const Rows written = execute(connection, statement);
    if (PQresultStatus(written.get()) == PGRES_COMMAND_OK) return;
    throw Failure(application_error(connection, written.get()));
}

}  // namespace

MessageId enqueue(
    pg_conn* connection,
    const Message& message,
    const PostgresEnqueueOptions& options
) {
    return enqueue(connection, std::span(&message, 1), options).front();
}

std::vector<MessageId> enqueue(
    pg_conn* connection,
    std::span<const Message> messages,
    const PostgresEnqueueOptions& options
) {
    require_plain_mode(connection);
    require_transaction(connection);
    if (messages.empty()) return {};
    require_texts(connection, messages);
    std::vector<MessageId> ids;
    const auto write = [&](const EnqueueStatement& part) {
        run(connection, part);
        ids.insert(ids.end(), part.ids.begin(), part.ids.end());
    };
    write(enqueue_statement(write_all_but_last(messages, options, write), options));
    return ids;
}

}  // namespace outrider::postgres
