#include <algorithm>

#include "outrider/testing.h"

namespace outrider::testing {
namespace {

constexpr std::size_t kShownBytes = 200;

std::string shown(const std::string& text) {
    if (text.size() <= kShownBytes) return "'" + text + "'";
    return "'" + text.substr(0, kShownBytes) + "...' (" + std::to_string(text.size()) + " bytes)";
}

// The first field that differs. Empty: none.
std::string mismatch(const Message& message, const Expected& expected) {
    struct Field {
        const char* name;
        const std::string& is;
        const std::optional<std::string>& wanted;
    };
    const std::optional<std::string> topic = expected.topic;
    for (const Field& field :
         {Field{"topic", message.topic, topic},
          Field{"key", message.key, expected.key},
          Field{"type", message.type, expected.type},
          Field{"payload", message.payload, expected.payload},
          Field{"content_type", message.content_type, expected.content_type}}) {
        if (field.wanted && *field.wanted != field.is) {
            return std::string(field.name) + " is " + shown(field.is) + ", expected " +
                   shown(*field.wanted);
        }
    }
    return "";
}

}  // namespace

std::string difference(std::span<const Message> messages, const std::vector<Expected>& expected) {
    std::string text;
    for (std::size_t i = 0; i < std::min(messages.size(), expected.size()); ++i) {
        const std::string field = mismatch(messages[i], expected[i]);
        if (!field.empty()) text += "message " + std::to_string(i + 1) + ": " + field + "\n";
    }
    for (std::size_t i = expected.size(); i < messages.size(); ++i) {
        text += "message " + std::to_string(i + 1) + " was not expected: topic " +
                shown(messages[i].topic) + ", payload " + shown(messages[i].payload) + "\n";
    }
    for (std::size_t i = messages.size(); i < expected.size(); ++i) {
        text += "message " + std::to_string(i + 1) + " is missing: topic " +
                shown(expected[i].topic) + "\n";
    }
    return text;
}

}  // namespace outrider::testing
