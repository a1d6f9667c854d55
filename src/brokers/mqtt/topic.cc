#include "brokers/mqtt/topic.h"

#include <algorithm>

#include "core/text.h"

namespace outrider::mqtt {
namespace {

constexpr std::size_t kTextBytesMax = 65'535;

// Mosquitto hangs up on more, without a word.
constexpr std::ptrdiff_t kSlashesMax = 200;

bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '\x7f';
}

bool is_forbidden(char c) {
    return is_control(c) || c == '+' || c == '#';
}

struct Character {
    char32_t code = 0;
    std::size_t bytes = 1;
};

// Of a text that is UTF-8.
Character character_at(std::string_view text, std::size_t at) {
    const auto lead = static_cast<unsigned char>(text[at]);
    if (lead < 0x80) return {lead, 1};
    const std::size_t bytes = 2U + (lead >= 0xe0 ? 1U : 0U) + (lead >= 0xf0 ? 1U : 0U);
    char32_t code = lead & (0x7fU >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        code = code << 6U | (static_cast<unsigned char>(text[at + i]) & 0x3fU);
    }
    return {code, bytes};
}

// Neither a control character, also beyond ASCII, nor one of the codes that Unicode has reserved
// for no character: the library refuses them all.
bool is_taken(char32_t code) {
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return false;
    return (code < 0xfdd0 || code > 0xfdef) && (code & 0xfffeU) != 0xfffeU;
}

}  // namespace

Result<wire::Target> parse_target(std::string_view text) {
    Result<wire::Target> target = wire::Target::parse(text);
    if (!target) return target;
    const std::string literals = target->literals();
    if (std::any_of(literals.begin(), literals.end(), is_forbidden)) {
        return Error{
            Remedy::correct,
            "the target of an mqtt: URL has a control character or a wildcard in it"};
    }
    return target;
}

void append_escaped(std::string& out, std::string_view value) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    for (const char c : value) {
        if (!is_forbidden(c) && c != '%') {
            out += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        out += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
}

std::string_view flaw_of_topic(std::string_view topic) {
    if (topic.empty()) return "the topic is empty";
    if (topic.front() == '$') return "the topic begins with a $, which is the server's own";
    if (std::count(topic.begin(), topic.end(), '/') > kSlashesMax) {
        return "the topic has more than 201 levels, which is more than servers take";
    }
    return is_text(topic) ? std::string_view()
                          : "the topic is too long, or no text that MQTT takes";
}

bool is_text(std::string_view text) {
    if (text.size() > kTextBytesMax || !is_utf8(text)) return false;
    for (std::size_t at = 0; at < text.size();) {
        const Character character = character_at(text, at);
        if (!is_taken(character.code)) return false;
        at += character.bytes;
    }
    return true;
}

}  // namespace outrider::mqtt
