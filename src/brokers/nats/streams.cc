#include "brokers/nats/streams.h"

#include "brokers/nats/json.h"
#include "core/text.h"

namespace outrider::nats {
namespace {

// The object, if it is an answer and no refusal.
Result<JsonObject> read_reply(std::string_view text) {
    const auto reply = JsonObject::parse(text);
    if (!reply) return Error{Remedy::wait, "JetStream answered something else than JSON"};
    const auto error = JsonObject::parse(reply->raw("error"));
    if (!error) return *reply;
    return Error{
        Remedy::wait,
        "JetStream said: " + error->text("description"),
        static_cast<int>(error->number("err_code"))};
}

}  // namespace

std::string streams_body(std::string_view subject) {
    std::string body = "{\"subject\":";
    append_json_string(body, subject);
    return body + "}";
}

Result<std::string> read_streams(std::string_view text) {
    const Result<JsonObject> reply = read_reply(text);
    if (!reply) return reply.error();
    // A list of nothing is null.
    const std::string_view names = reply->raw("streams");
    if (names.empty()) return Error{Remedy::wait, "JetStream named no streams"};
    const std::size_t start = names.find('"');
    if (start == std::string_view::npos) return std::string();
    return std::string(names.substr(start + 1, names.find('"', start + 1) - start - 1));
}

Result<void> read_account(std::string_view text) {
    const Result<JsonObject> reply = read_reply(text);
    if (!reply) return reply.error();
    return {};
}

}  // namespace outrider::nats
