#include "cli/message_json.h"

#include <array>
#include <set>
#include <vector>

#include <nlohmann/json.hpp>

#include "outrider/error.h"

#include "cli/times.h"
#include "core/nearest.h"

namespace outrider::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kDepthMax = 64;

[[noreturn]] void refuse(const std::string& text) {
    throw Failure({Remedy::correct, text});
}

// The parser itself keeps the last of two equal names, and nests as deep as the stack goes.
class Strict {
public:
    bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
        if (depth > kDepthMax) refuse("nested more than 64 deep");
        const auto level = static_cast<std::size_t>(depth);
        if (names_.size() < level + 2) names_.resize(level + 2);
        if (event == Json::parse_event_t::object_start) names_[level + 1].clear();
        if (event == Json::parse_event_t::key) {
            const auto name = parsed.get<std::string>();
            if (!names_[level].insert(name).second) refuse("'" + name + "' is there twice");
        }
        return true;
    }

private:
    std::vector<std::set<std::string>> names_;
};

std::string text_of(const std::string& name, const Json& value) {
    if (value.is_null()) return {};
    if (!value.is_string()) refuse("'" + name + "' must be text");
    return value.get<std::string>();
}

int base64_value(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+') return 62;
    return c == '/' ? 63 : -1;
}

std::string decode_base64(std::string_view text) {
    if (text.size() % 4 != 0) refuse("'payload_base64' is not base64");
    while (text.ends_with('=')) text.remove_suffix(1);
    std::string out;
    std::uint32_t group = 0;
    unsigned bits = 0;
    for (const char c : text) {
        const int value = base64_value(c);
        if (value < 0) refuse("'payload_base64' is not base64");
        group = group << 6U | static_cast<std::uint32_t>(value);
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        out += static_cast<char>(group >> bits & 0xffU);
    }
    return out;
}

std::optional<WallTime> moment_of(const std::string& name, const Json& value, WallTime now) {
    if (value.is_null()) return std::nullopt;
    const std::optional<WallTime> moment = parse_moment(text_of(name, value), now);
    if (!moment) refuse("'" + name + "' must be a moment such as 2026-11-15T12:00:00Z or +5m");
    return moment;
}

std::vector<Header> headers_of(const Json& value) {
    if (!value.is_object()) refuse("'headers' must be an object of text");
    std::vector<Header> headers;
    for (const auto& [name, text] : value.items()) headers.push_back({name, text_of(name, text)});
    return headers;
}

MessageId id_of(const Json& value) {
    const std::optional<MessageId> id = MessageId::parse(text_of("id", value));
    if (!id) refuse("'id' must be a UUID such as 0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f");
    return *id;
}

struct Part {
    std::string_view name;
    void (*read)(Message&, const Json&, WallTime);
};

constexpr std::array<Part, 10> kParts = {{
    {"topic", [](Message& m, const Json& v, WallTime) { m.topic = text_of("topic", v); }},
    {"key", [](Message& m, const Json& v, WallTime) { m.key = text_of("key", v); }},
    {"type", [](Message& m, const Json& v, WallTime) { m.type = text_of("type", v); }},
    {"content_type",
     [](Message& m, const Json& v, WallTime) { m.content_type = text_of("content_type", v); }},
    {"payload",
     [](Message& m, const Json& v, WallTime) {
         m.payload = v.is_string() ? v.get<std::string>() : v.dump();
     }},
    {"payload_base64",
     [](Message& m, const Json& v, WallTime) {
         m.payload = decode_base64(text_of("payload_base64", v));
     }},
    {"headers", [](Message& m, const Json& v, WallTime) { m.headers = headers_of(v); }},
    {"id", [](Message& m, const Json& v, WallTime) { m.id = id_of(v); }},
    {"occurred_at",
     [](Message& m, const Json& v, WallTime now) {
         m.occurred_at = moment_of("occurred_at", v, now);
     }},
    {"deliver_after",
     [](Message& m, const Json& v, WallTime now) {
         m.deliver_after = moment_of("deliver_after", v, now);
     }},
}};

[[noreturn]] void refuse_name(const std::string& name) {
    std::vector<std::string_view> known;
    for (const Part& part : kParts) known.push_back(part.name);
    refuse(
        "unknown name '" + name + "', the names are " + message_json_names() +
        did_you_mean(name, known)
    );
}

Json parse_strictly(std::string_view text) {
    try {
        return Json::parse(text, Strict());
    } catch (const nlohmann::json::parse_error& error) {
        refuse("not valid JSON at byte " + std::to_string(error.byte));
    }
}

}  // namespace

std::string message_json_names() {
    std::string names;
    for (const Part& part : kParts) names.append(names.empty() ? "" : ", ").append(part.name);
    return names;
}

Message message_from_json(std::string_view text, WallTime now) {
    const Json json = parse_strictly(text);
    if (!json.is_object()) refuse(R"(must be a JSON object such as {"topic":"a","payload":"b"})");
    if (json.contains("payload") && json.contains("payload_base64")) {
        refuse("has both payload and payload_base64");
    }
    Message message;
    for (const auto& member : json.items()) {
        const auto* part = std::find_if(kParts.begin(), kParts.end(), [&](const Part& one) {
            return one.name == member.key();
        });
        if (part == kParts.end()) refuse_name(member.key());
        part->read(message, member.value(), now);
    }
    validate(message);
    return message;
}

}  // namespace outrider::cli
