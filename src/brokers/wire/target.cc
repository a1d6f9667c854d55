#include "brokers/wire/target.h"

#include <algorithm>

namespace outrider::wire {

Result<Target::Part> Target::part_named(std::string_view name) {
    if (name == "topic") return Part::topic;
    if (name == "key") return Part::key;
    if (name == "type") return Part::type;
    return Error{
        Remedy::correct,
        "the target has no placeholder {" + std::string(name) +
            "}: it takes {topic}, {key} and {type}"};
}

Result<Target> Target::parse(std::string_view text) {
    if (text.empty()) return Error{Remedy::correct, "the target is empty"};
    Target target;
    while (!text.empty()) {
        const std::size_t open = text.find('{');
        if (open != 0) {
            target.pieces_.push_back({Part::literal, std::string(text.substr(0, open))});
            if (open == std::string_view::npos) break;
            text.remove_prefix(open);
        }
        const std::size_t close = text.find('}');
        if (close == std::string_view::npos) {
            return Error{Remedy::correct, "the target has a { without a }"};
        }
        const Result<Part> part = part_named(text.substr(1, close - 1));
        if (!part) return part.error();
        target.pieces_.push_back({*part, {}});
        text.remove_prefix(close + 1);
    }
    return target;
}

void Target::append(std::string& out, const Envelope& envelope, Escape escape) const {
    const auto put = [&](std::string_view value) {
        if (escape != nullptr) {
            escape(out, value);
        } else {
            out += value;
        }
    };
    for (const Piece& piece : pieces_) {
        if (piece.part == Part::literal) out += piece.text;
        if (piece.part == Part::topic) put(envelope.topic);
        if (piece.part == Part::key) put(envelope.key);
        if (piece.part == Part::type) put(envelope.type);
    }
}

bool Target::uses_type() const {
    return std::any_of(pieces_.begin(), pieces_.end(), [](const Piece& piece) {
        return piece.part == Part::type;
    });
}

std::string Target::literals() const {
    std::string text;
    for (const Piece& piece : pieces_) text += piece.text;
    return text;
}

}  // namespace outrider::wire
