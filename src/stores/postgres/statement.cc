#include "stores/postgres/statement.h"

#include <algorithm>
#include <array>

#include "outrider/error.h"

#include "core/clock.h"
#include "core/text.h"
#include "stores/postgres/sql.h"

namespace outrider::postgres {
namespace {

constexpr std::size_t kColumns = 9;
constexpr std::size_t kStatementBytes = 64U << 20U;
constexpr std::size_t kMessageBytes = 128;  // of id and times
using Values = std::array<std::optional<std::string>, kColumns>;

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

std::optional<std::string> unless_empty(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

std::optional<std::string> text_of(const std::optional<WallTime>& time) {
    return time ? std::optional(to_iso_micros(*time)) : std::nullopt;
}

// One message as text, in the order of the statements' parameters.
Values values_of(const Message& message, MessageId id) {
    return {
        id.to_string(),
        message.topic,
        unless_empty(message.key),
        unless_empty(message.type),
        hex(message.payload),
        unless_empty(message.content_type),
        headers_of(message),
        text_of(message.occurred_at),
        text_of(message.deliver_after),
    };
}

MessageId id_of(const Message& message, const PostgresEnqueueOptions& options) {
    validate(message, options);
    return message.id ? *message.id : MessageId::generate();
}

std::size_t weight_of(const Message& message) {
    std::size_t bytes = kMessageBytes + message.topic.size() + message.key.size();
    bytes += message.type.size() + message.content_type.size() + message.payload.size();
    for (const Header& header : message.headers) bytes += header.name.size() + header.value.size();
    return bytes;
}

// How many, from the first on, one statement should carry: one at least.
std::size_t fit_in_statement(std::span<const Message> messages) {
    std::size_t bytes = 0;
    std::size_t count = 0;
    for (; count < messages.size(); ++count) {
        bytes += weight_of(messages[count]);
        if (bytes > kStatementBytes) break;
    }
    return std::max<std::size_t>(count, messages.empty() ? 0 : 1);
}

// Many messages as one array per column.
EnqueueStatement many(std::span<const Message> messages, const PostgresEnqueueOptions& options) {
    EnqueueStatement statement;
    std::array<ArrayText, kColumns> columns;
    for (const Message& message : messages) {
        statement.ids.push_back(id_of(message, options));
        const Values values = values_of(message, statement.ids.back());
        for (std::size_t i = 0; i < kColumns; ++i) {
            columns[i].add(std::string_view(values[i].value_or("")));
        }
    }
    for (const ArrayText& column : columns) statement.parameters.emplace_back(column.text());
    statement.text = names_of(options).fill(sql::enqueue_many);
    return statement;
}

}  // namespace

std::vector<const char*> EnqueueStatement::values() const {
    std::vector<const char*> values;
    values.reserve(parameters.size());
    for (const auto& parameter : parameters) {
        values.push_back(parameter ? parameter->c_str() : nullptr);
    }
    return values;
}

Names names_of(const PostgresEnqueueOptions& options) {
    Result<Names> names = Names::of(options.schema);
    if (!names) throw Failure(names.error());
    return std::move(names).value();
}

std::optional<std::string> headers_of(const Message& message) {
    if (message.headers.empty()) return std::nullopt;
    std::vector<HeaderView> views;
    for (const Header& header : message.headers) views.push_back({header.name, header.value});
    std::string json;
    append_json_headers(json, views);
    return json;
}

EnqueueStatement enqueue_statement(const Message& message, const PostgresEnqueueOptions& options) {
    EnqueueStatement statement;
    statement.ids = {id_of(message, options)};
    const Values values = values_of(message, statement.ids.front());
    statement.parameters.assign(values.begin(), values.end());
    statement.text = names_of(options).fill(sql::enqueue);
    return statement;
}

EnqueueStatement enqueue_statement(
    std::span<const Message> messages,
    const PostgresEnqueueOptions& options
) {
    if (messages.empty()) throw Failure({Remedy::correct, "there is no message to enqueue"});
    if (messages.size() == 1) return enqueue_statement(messages.front(), options);
    return many(messages, options);
}

std::span<const Message> write_all_but_last(
    std::span<const Message> messages,
    const PostgresEnqueueOptions& options,
    const std::function<void(const EnqueueStatement&)>& run
) {
    std::size_t count = fit_in_statement(messages);
    if (count == messages.size()) return messages;
    for (const Message& message : messages) validate(message, options);
    for (; count < messages.size(); count = fit_in_statement(messages)) {
        run(enqueue_statement(messages.first(count), options));
        messages = messages.subspan(count);
    }
    return messages;
}

EnqueueStatement last_statement(
    std::span<const Message> messages,
    const PostgresEnqueueOptions& options
) {
    EnqueueStatement statement;
    if (messages.empty()) {
        statement.text = "select pg_current_xact_id_if_assigned()::text";
        return statement;
    }
    statement = enqueue_statement(messages, options);
    statement.text =
        "with written as (\n" + statement.text + ")\nselect pg_current_xact_id()::text";
    return statement;
}

Rows execute(PGconn* connection, const EnqueueStatement& statement) {
    const std::vector<const char*> values = statement.values();
    return Rows(PQexecParams(
        connection,
        statement.text.c_str(),
        static_cast<int>(values.size()),
        nullptr,
        values.data(),
        nullptr,
        nullptr,
        0
    ));
}

}  // namespace outrider::postgres
