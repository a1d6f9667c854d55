#include <string>

#include "outrider/error.h"
#include "outrider/sqlite.h"

#include "core/clock.h"
#include "core/text.h"
#include "stores/sqlite/connection.h"
#include "stores/sqlite/sql.h"

namespace outrider::sqlite {
namespace {

void require_transaction(sqlite3* database) {
    if (sqlite3_get_autocommit(database) == 0) return;
    throw Failure(
        {Remedy::correct,
         "no transaction is open on this connection: begin one, write your own rows and the "
         "message "
         "in it, and commit both together"}
    );
}

[[noreturn]] void fail(Error error) {
    if (error.text.find("no such table") != std::string::npos) {
        error.text += "; run 'outrider migrate up' or call outrider::sqlite::migrate()";
    }
    throw Failure(std::move(error));
}

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
    if (Result<std::int64_t> written = statement.run(); !written) fail(written.error());
    return id;
}

Statement prepare(sqlite3* database) {
    Result<Statement> statement = Statement::prepare(database, sql::enqueue);
    if (!statement) fail(statement.error());
    return std::move(statement).value();
}

void run(sqlite3* database, const char* statement) {
    if (sqlite3_exec(database, statement, nullptr, nullptr, nullptr) != SQLITE_OK) {
        fail(error_of(database, "SQLite"));
    }
}

// All or none, inside a transaction that belongs to somebody else.
class Savepoint {
public:
    explicit Savepoint(sqlite3* database) : database_(database) {
        run(database_, "savepoint outrider_enqueue");
    }
    ~Savepoint() {
        if (!kept_)
            sqlite3_exec(database_, "rollback to outrider_enqueue", nullptr, nullptr, nullptr);
        sqlite3_exec(database_, "release outrider_enqueue", nullptr, nullptr, nullptr);
    }
    Savepoint(const Savepoint&) = delete;
    Savepoint& operator=(const Savepoint&) = delete;

    void keep() { kept_ = true; }

private:
    sqlite3* database_;
    bool kept_ = false;
};

}  // namespace

MessageId enqueue(sqlite3* database, const Message& message, const EnqueueOptions& options) {
    require_transaction(database);
    validate(message, options);
    Statement statement = prepare(database);
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
        Statement statement = prepare(database);
        for (const Message& message : messages) ids.push_back(insert(statement, message));
    }
    savepoint.keep();
    return ids;
}

}  // namespace outrider::sqlite
