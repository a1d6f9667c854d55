#pragma once

#include <string>
#include <string_view>

#include "brokers/wire/target.h"

namespace outrider::mqtt {

// A target whose own text may stand in a topic: no control character, no wildcard.
[[nodiscard]] Result<wire::Target> parse_target(std::string_view text);

// Appends a value with everything percent-encoded that a topic cannot contain: control characters,
// the wildcards '+' and '#', and '%' itself. Slashes stay: they divide levels.
void append_escaped(std::string& out, std::string_view value);

// What is wrong with a topic made of such parts; empty: nothing.
[[nodiscard]] std::string_view flaw_of_topic(std::string_view topic);

// Whether MQTT takes the text in a property: UTF-8 of at most 65,535 bytes without control
// characters and without the codes that are no characters (U+FFFF and its like).
[[nodiscard]] bool is_text(std::string_view text);

}  // namespace outrider::mqtt
