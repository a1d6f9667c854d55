#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/config.h"
#include "config/node.h"

namespace outrider {

enum class Kind : std::uint8_t { text, url, duration, count, bytes, number, choice, list };

// One option, as data. File, environment, flags and print all work from these rows; the default is
// that of the field itself.
struct OptionRow {
    std::string_view name;  // "relay.retention"; of a destination "retry.jitter"
    std::string_view sentence;
    Kind kind = Kind::text;
    std::string_view example;
    std::string_view least;    // written like a value; empty: no bound
    std::string_view most;     // likewise
    std::string_view choices;  // "key|none|global", in the order of the enumeration
    bool secret = false;       // may contain a password: never shown as it is
};

// Where the value of an option lives.
using Field = std::variant<
    std::string*,
    SecretUrl*,
    Duration*,
    std::size_t*,
    std::uint32_t*,
    double*,
    std::vector<std::string>*,
    Order*,
    Start*,
    OnFailure*,
    AfterDeath*,
    Format*,
    LogLevel*,
    LogFormat*,
    postgres::Settle*,
    postgres::Wake*,
    StoreLayout*>;

struct GlobalRow {
    OptionRow option;
    Field (*field)(Config&);
};

struct DestinationRow {
    OptionRow option;
    Field (*field)(DestinationConfig&);
};

[[nodiscard]] std::span<const GlobalRow> global_rows();
[[nodiscard]] std::span<const DestinationRow> destination_rows();

// What is wrong with a value; `nearest` as in Problem.
struct Misfit {
    std::string text;
    std::string nearest;
};

// Writes the value into the field. Nothing: it fits. Else the field is as it was.
[[nodiscard]] std::optional<Misfit> assign(
    const OptionRow& row,
    const Field& field,
    const Node& value
);

// The value as it would be written in a variable or a flag, secrets masked.
[[nodiscard]] std::string show(const OptionRow& row, const Field& field);

// "retry.attempts_max" becomes "RETRY_ATTEMPTS_MAX".
[[nodiscard]] std::string environment_name(std::string_view name);

}  // namespace outrider
