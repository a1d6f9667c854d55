// Enqueue by COPY BINARY.

#include <algorithm>

#include "outrider/error.h"

#include "core/clock.h"
#include "stores/postgres/caller.h"
#include "stores/postgres/sql.h"
#include "stores/postgres/statement.h"

namespace outrider::postgres {
namespace {

constexpr std::size_t kFlushBytes = 64U << 10U;
constexpr std::int64_t kMicrosTo2000 = 946'684'800'000'000;  // PostgreSQL counts from 2000

// The rows of a COPY as they go over the wire.
class Writer {
public:
    Writer() { bytes_.append("PGCOPY\n\377\r\n\0", 11).append(8, '\0'); }

    void row(int fields) { big_endian(static_cast<std::uint64_t>(fields), 2); }
    void field(std::string_view bytes) {
        big_endian(bytes.size(), 4);
        bytes_ += bytes;
    }
    void field_or_null(std::string_view text) {
        if (text.empty()) {
            null();
        } else {
            field(text);
        }
    }
    void time(const std::optional<WallTime>& time) {
        if (!time) return null();
        big_endian(8, 4);
        const std::int64_t micros = time->time_since_epoch().count() - kMicrosTo2000;
        big_endian(static_cast<std::uint64_t>(micros), 8);
    }
    void end() { bytes_ += "\377\377"; }

    // What has been written since the last call.
    [[nodiscard]] std::string& bytes() { return bytes_; }

private:
    void null() { bytes_ += "\377\377\377\377"; }
    void big_endian(std::uint64_t value, int size) {
        for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) {
            bytes_ += static_cast<char>(static_cast<unsigned char>(value >> shift));
        }
    }
    std::string bytes_;
};

void write(Writer& writer, const Message& message, MessageId id) {
    writer.row(message.occurred_at ? 9 : 8);
    writer.field({reinterpret_cast<const char*>(id.bytes().data()), id.bytes().size()});
    writer.field(message.topic);
    writer.field_or_null(message.key);
    writer.field_or_null(message.type);
    writer.field(message.payload);
    writer.field_or_null(message.content_type);
    const std::optional<std::string> headers = headers_of(message);
    writer.field_or_null(headers ? '\1' + *headers : "");  // jsonb, version 1
    writer.time(message.deliver_after);
    if (message.occurred_at) writer.time(message.occurred_at);
}

// A COPY that is under way. Left without finish(), it is called off, and the server rolls back.
class Copy {
public:
    Copy(PGconn* connection, const std::string& sql) : connection_(connection) {
        const Rows started(PQexec(connection_, sql.c_str()));
        if (PQresultStatus(started.get()) != PGRES_COPY_IN) {
            throw Failure(application_error(connection_, started.get()));
        }
    }
    ~Copy() {
        if (connection_ != nullptr) [[maybe_unused]]
            const Rows end = stop("the application gave up");
    }
    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;

    void send(std::string& bytes) {
        if (PQputCopyData(connection_, bytes.data(), static_cast<int>(bytes.size())) != 1) {
            throw Failure(application_error(connection_, nullptr));
        }
        bytes.clear();
    }

    void finish() {
        const Rows end = stop(nullptr);
        PGconn* connection = std::exchange(connection_, nullptr);
        if (PQresultStatus(end.get()) != PGRES_COMMAND_OK) {
            throw Failure(application_error(connection, end.get()));
        }
    }

private:
    // The first answer; everything behind it is read away.
    Rows stop(const char* reason) {
        PQputCopyEnd(connection_, reason);
        Rows first(PQgetResult(connection_));
        while (const PGresult* more = PQgetResult(connection_)) {
            PQclear(const_cast<PGresult*>(more));
        }
        return first;
    }

    PGconn* connection_;  // null: finished
};

// COPY needs a connection that waits.
class Blocking {
public:
    explicit Blocking(PGconn* connection)
        : connection_(connection),
          nonblocking_(PQisnonblocking(connection)) {
        PQsetnonblocking(connection_, 0);
    }
    ~Blocking() { PQsetnonblocking(connection_, nonblocking_); }
    Blocking(const Blocking&) = delete;
    Blocking& operator=(const Blocking&) = delete;

private:
    PGconn* connection_;
    int nonblocking_;
};

// Messages that all have a time of their own, or all none.
void copy_alike(
    PGconn* connection,
    std::span<const Message> messages,
    std::span<const MessageId> ids,
    const Names& names
) {
    const char* occurred_at = messages.front().occurred_at ? ", occurred_at" : "";
    Copy copy(connection, Names::fill(names.fill(sql::enqueue_copy), "occurred_at", occurred_at));
    Writer writer;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        write(writer, messages[i], ids[i]);
        if (writer.bytes().size() >= kFlushBytes) copy.send(writer.bytes());
    }
    writer.end();
    copy.send(writer.bytes());
    copy.finish();
}

}  // namespace

std::vector<MessageId> copy(
    pg_conn* connection,
    std::span<const Message> messages,
    const PostgresEnqueueOptions& options
) {
    require_plain_mode(connection);
    require_transaction(connection);
    require_texts(connection, messages);
    const Names names = names_of(options);
    std::vector<MessageId> ids;
    ids.reserve(messages.size());
    for (const Message& message : messages) {
        validate(message, options);
        ids.push_back(message.id ? *message.id : MessageId::generate());
    }
    const Blocking blocking(connection);
    for (std::size_t from = 0; from < messages.size();) {
        const auto differs = [&](const Message& message) {
            return message.occurred_at.has_value() != messages[from].occurred_at.has_value();
        };
        const auto rest = messages.subspan(from);
        const auto end = std::find_if(rest.begin(), rest.end(), differs);
        const auto count = static_cast<std::size_t>(end - rest.begin());
        copy_alike(connection, rest.first(count), std::span(ids).subspan(from, count), names);
        from += count;
    }
    return ids;
}

}  // namespace outrider::postgres
