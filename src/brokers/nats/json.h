#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace outrider::nats {

// The members of one JSON object, each value as it is written. Just enough for acknowledgements,
// one of which comes back for every message: a full parser would cost more than the rest of the
// reply.
class JsonObject {
public:
    // Nothing: it is no object. Views point into the text.
    [[nodiscard]] static std::optional<JsonObject> parse(std::string_view text);

    // The value as it is written; empty: there is no such member.
    [[nodiscard]] std::string_view raw(std::string_view name) const;

    // A string without its quotes, its escapes undone: Go writes "&" as \u0026. What is no escape,
    // and half a pair of surrogates, becomes U+FFFD. Empty: there is no such string.
    [[nodiscard]] std::string text(std::string_view name) const;

    // 0: there is no such number.
    [[nodiscard]] std::uint64_t number(std::string_view name) const;

private:
    struct Member {
        std::string_view name;
        std::string_view value;
    };

    std::vector<Member> members_;
};

}  // namespace outrider::nats
