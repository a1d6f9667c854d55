#include "brokers/nats/subject.h"

#include <algorithm>

#include "brokers/wire/encoder.h"

namespace outrider::nats {
namespace {

// A server hangs up on a line that is longer (max_control_line; it does not say what it has there,
// so this is the default). Besides subject and reply there are two numbers on it.
constexpr std::size_t kLineBytesMax = 4096;
constexpr std::size_t kLineRestBytes = 32;

bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '\x7f';
}

bool is_forbidden(char c) {
    return is_control(c) || c == ' ' || c == '*' || c == '>';
}

}  // namespace

Result<wire::Target> parse_target(std::string_view text) {
    Result<wire::Target> target = wire::Target::parse(text);
    if (!target) return target;
    const std::string literals = target->literals();
    if (std::any_of(literals.begin(), literals.end(), is_forbidden)) {
        return Error{
            Remedy::correct, "the target of a nats: URL has white space or a wildcard in it"};
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

std::string_view flaw_of(std::string_view subject, std::string_view reply) {
    if (subject.empty()) return "the subject is empty";
    if (subject.size() + reply.size() + kLineRestBytes > kLineBytesMax) {
        return "the subject is too long for a line of the protocol (max_control_line)";
    }
    const bool has_gap = subject.front() == '.' || subject.back() == '.' ||
                         subject.find("..") != std::string_view::npos;
    return has_gap ? "the subject has an empty token between its dots" : std::string_view();
}

bool is_order(std::string_view subject, std::string_view api) {
    const auto begins = [&](std::string_view prefix) { return subject.starts_with(prefix); };
    // $KV. and $O. are not among them: buckets of keys and objects are streams like others.
    if (begins("$JS.") || begins("$SYS.") || begins("_INBOX.")) return true;
    return !api.empty() && begins(std::string(api) + ".");
}

std::string flaw_of(const HeaderView& header) {
    const auto breaks_name = [](char c) { return is_control(c) || c == ' ' || c == ':'; };
    if (header.name.empty() || std::any_of(header.name.begin(), header.name.end(), breaks_name)) {
        return "a header's name is empty or has a colon, a space or a control character in it";
    }
    const std::string name(header.name);
    if (std::any_of(header.value.begin(), header.value.end(), is_control)) {
        return "the header " + name + " has a control character in it";
    }
    if (name.size() >= 5 && wire::same_name(name.substr(0, 5), "Nats-")) {
        return "the header " + name + " is an order to the server, which only the relay gives";
    }
    return {};
}

}  // namespace outrider::nats
