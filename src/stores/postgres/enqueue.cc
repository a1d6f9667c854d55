#include <string>

#include "outrider/error.h"
#include "outrider/postgres.h"

#include "core/clock.h"
#include "core/text.h"
#include "stores/postgres/caller.h"
#include "stores/postgres/connection.h"
#include "stores/postgres/names.h"
#include "stores/postgres/sql.h"

namespace outrider::postgres {
namespace {

std::string hex(std::string_view bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text = "\\x";
    text.reserve(2 + bytes.size() * 2);
    for (const char c : bytes) {
        text += kDigits[static_cast<unsigned char>(c) >> 4U];
        text += kDigits[static_cast<unsigned char>(c) & 0x0fU];
    }
    return text;
}

std::string headers_json(const Message& message) {
    std::vector<HeaderView> views;
    for (const Header& header : message.headers) views.push_back({header.name, header.value});
    std::string json;
    append_json_headers(json, views);
    return json;
}

void add_or_null(ArrayText& array, std::string_view text) {
    if (text.empty()) {
        array.add_null();
    } else {
        array.add(text);
    }
}

void add_time(ArrayText& array, const std::optional<WallTime>& time) {
    if (time) {
        array.add(std::string_view(to_iso_micros(*time)));
    } else {
        array.add_null();
    }
}

// The columns of many messages, as the parameters of one statement.
class Columns {
public:
    MessageId add(const Message& message) {
        const MessageId id = message.id ? *message.id : MessageId::generate();
        ids_.add(std::string_view(id.to_string()));
        topics_.add(std::string_view(message.topic));
        add_or_null(keys_, message.key);
        add_or_null(types_, message.type);
        payloads_.add(std::string_view(hex(message.payload)));
        add_or_null(content_types_, message.content_type);
        if (message.headers.empty()) {
            headers_.add_null();
        } else {
            headers_.add(std::string_view(headers_json(message)));
        }
        add_time(occurred_, message.occurred_at);
        add_time(delays_, message.deliver_after);
        return id;
    }

    [[nodiscard]] Parameters parameters() const {
        Parameters parameters;
        for (const ArrayText* column :
             {&ids_,
              &topics_,
              &keys_,
              &types_,
              &payloads_,
              &content_types_,
              &headers_,
              &occurred_,
              &delays_}) {
            parameters.add(std::string_view(column->text()));
        }
        return parameters;
    }

private:
    ArrayText ids_, topics_, keys_, types_, payloads_, content_types_, headers_, occurred_, delays_;
};

void write(PGconn* connection, const Columns& columns, const std::string& schema) {
    const Result<Names> names = Names::of(schema);
    if (!names) throw Failure(names.error());
    run_for_caller(connection, names->fill(sql::enqueue), columns.parameters());
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
    require_transaction(connection);
    Columns columns;
    std::vector<MessageId> ids;
    for (const Message& message : messages) {
        validate(message, options);
        ids.push_back(columns.add(message));
    }
    if (!ids.empty()) write(connection, columns, options.schema);
    return ids;
}

}  // namespace outrider::postgres
