#include "brokers/wire/cloud_event.h"

#include <nlohmann/json.hpp>

#include "brokers/wire/encoder.h"
#include "core/clock.h"
#include "core/text.h"

namespace outrider::wire {
namespace {

// "application/json; charset=utf-8" without its parameters.
std::string_view media_type(std::string_view content_type) {
    content_type = content_type.substr(0, content_type.find(';'));
    while (content_type.ends_with(' ')) content_type.remove_suffix(1);
    return content_type;
}

bool says_json(std::string_view content_type) {
    const std::string_view type = media_type(content_type);
    return same_name(type, "application/json") || same_name(type, "text/json") ||
           type.ends_with("+json");
}

// What may stand in the middle of other JSON. The library skips a byte order mark and takes a NUL
// for the end; neither is JSON.
bool is_json_text(std::string_view payload) {
    if (payload.starts_with("\xef\xbb\xbf")) return false;
    if (payload.find('\0') != std::string_view::npos) return false;
    return nlohmann::json::accept(payload);
}

void append_attribute(std::string& out, std::string_view name, std::string_view value) {
    out += out.back() == '{' ? "\"" : ",\"";
    out += name;
    out += "\":";
    append_json_string(out, value);
}

void append_data(std::string& out, const Envelope& envelope) {
    if (envelope.payload.empty()) return;
    const bool is_json = says_json(envelope.content_type);
    const bool is_text = !is_json && media_type(envelope.content_type).starts_with("text/");
    if (is_json && is_json_text(envelope.payload)) {
        out += ",\"data\":";
        out += envelope.payload;
    } else if (is_text && is_utf8(envelope.payload)) {
        append_attribute(out, "data", envelope.payload);
    } else {
        out += R"(,"data_base64":")";
        append_base64(out, envelope.payload);
        out += '"';
    }
}

}  // namespace

std::string_view cloud_event_type(const Envelope& envelope) {
    return envelope.type.empty() ? envelope.topic : envelope.type;
}

std::string_view header_of(const Envelope& envelope, std::string_view name) {
    for (const HeaderView& header : envelope.headers) {
        if (same_name(header.name, name)) return header.value;
    }
    return {};
}

void append_cloud_event(std::string& out, const Envelope& envelope, std::string_view source) {
    out += '{';
    append_attribute(out, "specversion", kCloudEventsVersion);
    append_attribute(out, "id", envelope.id.to_string());
    append_attribute(out, "source", source);
    append_attribute(out, "type", cloud_event_type(envelope));
    append_attribute(out, "time", to_iso(envelope.occurred_at));
    if (!envelope.key.empty()) append_attribute(out, "partitionkey", envelope.key);
    for (const std::string_view name : kTraceHeaders) {
        const std::string_view value = header_of(envelope, name);
        if (!value.empty()) append_attribute(out, name, value);
    }
    if (!envelope.content_type.empty()) {
        append_attribute(out, "datacontenttype", envelope.content_type);
    }
    append_data(out, envelope);
    out += '}';
}

}  // namespace outrider::wire
