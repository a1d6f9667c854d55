#include "brokers/mqtt/topic.h"

#include <algorithm>

#include "core/text.h"

namespace outrider::mqtt {
namespace {

constexpr std::size_t kTextBytesMax = 65'535;

bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '\x7f';
}

bool is_forbidden(char c) {
    return is_control(c) || c == '+' || c == '#';
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
    return is_text(topic) ? std::string_view()
                          : "the topic is too long, or no text that MQTT takes";
}

// Also the control characters beyond ASCII, U+0080 to U+009F, which the library refuses.
bool is_text(std::string_view text) {
    if (text.size() > kTextBytesMax || !is_utf8(text)) return false;
    if (std::any_of(text.begin(), text.end(), is_control)) return false;
    for (std::size_t at = text.find('\xc2'); at != std::string_view::npos;
         at = text.find('\xc2', at + 1)) {
        if (static_cast<unsigned char>(text[at + 1]) < 0xa0) return false;
    }
    return true;
}

}  // namespace outrider::mqtt
