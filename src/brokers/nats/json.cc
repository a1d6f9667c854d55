#include "brokers/nats/json.h"

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
    return value.starts_with('"') ? std::string(without_quotes(value)) : std::string();
}

std::uint64_t JsonObject::number(std::string_view name) const {
    const std::string_view value = raw(name);
    std::uint64_t number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    return number;
}

}  // namespace outrider::nats
