// Texts are UTF-8; a connection may hand them on as something else.

#include <algorithm>

#include "outrider/error.h"

#include "stores/postgres/caller.h"

namespace outrider::postgres {
namespace {

bool is_ascii(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x80;
    });
}

void require_ascii(std::string_view field, std::string_view text) {
    if (is_ascii(text)) return;
    throw Failure(
        {Remedy::correct,
         std::string(field) +
             " has letters beyond ASCII, which this connection hands to the database as others: "
             "set client_encoding to UTF8 on this connection"}
    );
}

void require_ascii(const Message& message) {
    require_ascii("message.topic", message.topic);
    require_ascii("message.key", message.key);
    require_ascii("message.type", message.type);
    require_ascii("message.content_type", message.content_type);
    for (const Header& header : message.headers) {
        require_ascii("message.headers", header.name);
        require_ascii("message.headers", header.value);
    }
}

std::string_view parameter(PGconn* connection, const char* name) {
    const char* value = PQparameterStatus(connection, name);
    return value == nullptr ? "UTF8" : value;  // not told: by a pooler, or on a lost connection
}

bool hands_on_utf8(PGconn* connection) {
    return takes_utf8(
        parameter(connection, "client_encoding"), parameter(connection, "server_encoding")
    );
}

}  // namespace

bool takes_utf8(std::string_view client_encoding, std::string_view server_encoding) {
    if (client_encoding == "UTF8") return true;
    const bool as_they_are = client_encoding == "SQL_ASCII";
    return as_they_are && (server_encoding == "SQL_ASCII" || server_encoding == "UTF8");
}

void require_ascii(std::span<const Message> messages) {
    for (const Message& message : messages) require_ascii(message);
}

void require_texts(PGconn* connection, std::span<const Message> messages) {
    if (!hands_on_utf8(connection)) require_ascii(messages);
}

void require_texts(PGconn* connection, const Arrival& arrival) {
    if (hands_on_utf8(connection)) return;
    require_ascii("the topic of the arrival", arrival.topic);
    require_ascii("the key of the arrival", arrival.key);
}

}  // namespace outrider::postgres
