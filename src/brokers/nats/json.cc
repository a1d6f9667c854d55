#include "brokers/nats/json.h"

#include <algorithm>
#include <charconv>

namespace outrider::nats {
namespace {

// Walks over a text. What it finds malformed ends the walk.
class Walker {
public:
    explicit Walker(std::string_view text) : text_(text) {}

    [[nodiscard]] bool eat(char c) {
        skip_space();
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }

    // With its quotes. Empty: there is none, or it has no end.
    [[nodiscard]] std::string_view string() {
        skip_space();
        const std::size_t start = at_;
        if (!eat('"')) return {};
        for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
            if (text_[at_] == '\\') ++at_;
        }
        if (at_ >= text_.size()) return {};
        ++at_;
        return text_.substr(start, at_ - start);
    }

    // A string, or everything up to the comma or brace behind the value.
    [[nodiscard]] std::string_view value() {
        skip_space();
        if (at_ < text_.size() && text_[at_] == '"') return string();
        const std::size_t start = at_;
        int depth = 0;
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (depth == 0 && (c == ',' || c == '}' || c == ']')) break;
            if (c == '"') {
                if (string().empty()) return {};
                continue;
            }
            if (c == '{' || c == '[') ++depth;
            if (c == '}' || c == ']') --depth;
            ++at_;
        }
        return depth == 0 ? text_.substr(start, at_ - start) : std::string_view();
    }

    [[nodiscard]] bool is_at_end() {
        skip_space();
        return at_ == text_.size();
    }

private:
    void skip_space() {
        while (at_ < text_.size() &&
               std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) {
            ++at_;
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

std::string_view without_quotes(std::string_view text) {
    return text.substr(1, text.size() - 2);
}

constexpr std::uint32_t kReplacement = 0xfffd;

void append_utf8(std::string& out, std::uint32_t code) {
    const auto tail = [&](unsigned shift) {
        out += static_cast<char>(0x80U | (code >> shift & 0x3fU));
    };
    if (code < 0x80) out += static_cast<char>(code);
    if (code >= 0x80 && code < 0x800) out += static_cast<char>(0xc0U | code >> 6U);
    if (code >= 0x800 && code < 0x10000) out += static_cast<char>(0xe0U | code >> 12U);
    if (code >= 0x10000) out += static_cast<char>(0xf0U | code >> 18U);
    if (code >= 0x10000) tail(12);
    if (code >= 0x800) tail(6);
    if (code >= 0x80) tail(0);
}

// Four digits, which are taken off the rest.
std::uint32_t take_unit(std::string_view& rest) {
    const std::string_view digits = rest.substr(0, 4);
    rest.remove_prefix(digits.size());
    std::uint32_t unit = 0;
    const char* const end = digits.data() + digits.size();
    const bool is_whole =
        digits.size() == 4 && std::from_chars(digits.data(), end, unit, 16).ptr == end;
    return is_whole ? unit : kReplacement;
}

// What stands behind \u, and the other half where it is one of a pair.
std::uint32_t take_code(std::string_view& rest) {
    const std::uint32_t first = take_unit(rest);
    if (first < 0xd800 || first > 0xdfff) return first;
    if (first > 0xdbff || !rest.starts_with("\\u")) return kReplacement;
    std::string_view behind = rest.substr(2);
    const std::uint32_t second = take_unit(behind);
    if (second < 0xdc00 || second > 0xdfff) return kReplacement;
    rest = behind;
    return 0x10000 + ((first - 0xd800) << 10U) + (second - 0xdc00);
}

// The rest begins with a backslash, behind which the walker has seen something.
void take_escape(std::string& out, std::string_view& rest) {
    constexpr std::string_view kNames = "\"\\/bfnrtu";
    constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
    const std::size_t known = kNames.find(rest[1]);
    rest.remove_prefix(2);
    if (known < kMeant.size()) {
        out += kMeant[known];
    } else {
        append_utf8(out, known == kMeant.size() ? take_code(rest) : kReplacement);
    }
}

std::string without_escapes(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t plain = std::min(text.find('\\'), text.size());
        out += text.substr(0, plain);
        text.remove_prefix(plain);
        if (!text.empty()) take_escape(out, text);
    }
    return out;
}

}  // namespace

std::optional<JsonObject> JsonObject::parse(std::string_view text) {
    Walker walker(text);
    JsonObject object;
    if (!walker.eat('{')) return std::nullopt;
    if (walker.eat('}')) return walker.is_at_end() ? std::optional(object) : std::nullopt;
    do {
        const std::string_view name = walker.string();
        if (name.empty() || !walker.eat(':')) return std::nullopt;
        const std::string_view value = walker.value();
        if (value.empty()) return std::nullopt;
        object.members_.push_back({without_quotes(name), value});
    } while (walker.eat(','));
    if (!walker.eat('}') || !walker.is_at_end()) return std::nullopt;
    return object;
}

std::string_view JsonObject::raw(std::string_view name) const {
    for (const Member& member : members_) {
        if (member.name == name) return member.value;
    }
    return {};
}

std::string JsonObject::text(std::string_view name) const {
    const std::string_view value = raw(name);
    return value.starts_with('"') ? without_escapes(without_quotes(value)) : std::string();
}

std::uint64_t JsonObject::number(std::string_view name) const {
    const std::string_view value = raw(name);
    std::uint64_t number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    return number;
}

}  // namespace outrider::nats
