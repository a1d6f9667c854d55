#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/batch.h"
#include "core/result.h"

namespace outrider::wire {

// A template over topic, key and type, e.g. "shop.{topic}". It is filled in for every message; what
// characters a broker takes in the result is that broker's business. A value.
class Target {
public:
    // An unknown placeholder, an open brace or an empty template is an error that says which.
    [[nodiscard]] static Result<Target> parse(std::string_view text);

    // Appends a message's value in the form that a broker's names can take.
    using Escape = void (*)(std::string& out, std::string_view value);

    // Appends the template with the message's own values, each as it is unless there is an escape.
    void append(std::string& out, const Envelope& envelope, Escape escape = nullptr) const;

    // What stands in the template besides placeholders.
    [[nodiscard]] std::string literals() const;

    // Whether messages of one topic and key may go to several places.
    [[nodiscard]] bool uses_type() const;

private:
    enum class Part : std::uint8_t { literal, topic, key, type };
    struct Piece {
        Part part = Part::literal;
        std::string text;
    };

    [[nodiscard]] static Result<Part> part_named(std::string_view name);

    std::vector<Piece> pieces_;
};

}  // namespace outrider::wire
