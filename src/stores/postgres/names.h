#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace outrider::postgres {

// The parts of a log, message_1 and so on.
inline constexpr int kSegments = 4;

// The statements of one schema: every text with {schema} replaced by its quoted name. Made once,
// after the name was checked, so nothing a user writes ever becomes part of a statement unchecked.
class Names {
public:
    // Refuses (correct) anything but letters, digits and underscores, at most 40 of them, not
    // starting with a digit.
    // `now`: the expression that stands for the present moment; ours, never a user's.
    [[nodiscard]] static Result<Names> of(
        std::string_view schema,
        std::string_view now = "clock_timestamp()"
    );

    // The text with {schema}, {writer} and {relay} (the schema's own two roles), {channel} (where
    // its bell is heard) and {now} filled in.
    [[nodiscard]] std::string fill(std::string_view sql) const;

    // The text with another {placeholder} filled in.
    [[nodiscard]] static std::string fill(
        std::string_view sql,
        std::string_view placeholder,
        std::string_view value
    );

    [[nodiscard]] const std::string& schema() const { return schema_; }

private:
    Names(std::string schema, std::string now) : schema_(std::move(schema)), now_(std::move(now)) {}
    [[nodiscard]] std::string quoted(std::string_view suffix) const;

    std::string schema_;
    std::string now_;
};

}  // namespace outrider::postgres
