#include <string>

#include "outrider/error.h"
#include "outrider/sqlite.h"

#include "core/clock.h"
#include "core/text.h"
#include "stores/sqlite/caller.h"
#include "stores/sqlite/connection.h"
#include "stores/sqlite/sql.h"

namespace outrider::sqlite {
namespace {

std::string headers_json(const Message& message) {
    std::vector<HeaderView> views;
    for (const Header& header : message.headers) views.push_back({header.name, header.value});
    std::string json;
    if (!views.empty()) append_json_headers(json, views);
    return json;
}

void bind_or_null(Statement& statement, int place, std::string_view text) {
    if (text.empty()) {
        statement.bind_null(place);
    } else {
        statement.bind(place, text);
    }
}

std::optional<std::int64_t> millis(const std::optional<WallTime>& time) {
    return time ? std::optional(to_millis(*time)) : std::nullopt;
}

MessageId insert(Statement& statement, const Message& message) {
    const MessageId id = message.id ? *message.id : MessageId::generate();
    const std::string id_text = id.to_string();
    const std::string headers = headers_json(message);
    statement.bind(1, id_text).bind(2, message.topic);
    bind_or_null(statement, 3, message.key);
    bind_or_null(statement, 4, message.type);
    statement.bind_blob(5, message.payload);
    bind_or_null(statement, 6, message.content_type);
    bind_or_null(statement, 7, headers);
    statement.bind(8, millis(message.occurred_at)).bind(9, millis(message.deliver_after));
    if (Result<std::int64_t> written = statement.run(); !written) fail_caller(written.error());
    return id;
}

}  // namespace

MessageId enqueue(sqlite3* database, const Message& message, const EnqueueOptions& options) {
    require_transaction(database);
    validate(message, options);
    Statement statement = prepare_for_caller(database, sql::enqueue);
    return insert(statement, message);
}

std::vector<MessageId> enqueue(
    sqlite3* database,
    std::span<const Message> messages,
    const EnqueueOptions& options
) {
    require_transaction(database);
    for (const Message& message : messages) validate(message, options);
    std::vector<MessageId> ids;
    ids.reserve(messages.size());
    Savepoint savepoint(database);
    {
        Statement statement = prepare_for_caller(database, sql::enqueue);
        for (const Message& message : messages) ids.push_back(insert(statement, message));
    }
    savepoint.keep();
    return ids;
}

}  // namespace outrider::sqlite
