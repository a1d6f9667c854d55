#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/batch.h"

namespace outrider {

// The parts between separators; none of an empty text.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

// Letters beyond ASCII stay as they are.
[[nodiscard]] constexpr char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
[[nodiscard]] std::string lower(std::string text);

// Fit for the name of a destination or a consumer: 1 to 63 letters, digits and - _ . : *
[[nodiscard]] bool is_plain_name(std::string_view text);

[[nodiscard]] bool is_utf8(std::string_view bytes);

// Appends the text as a JSON string, quotes included. What is not UTF-8 becomes U+FFFD.
void append_json_string(std::string& out, std::string_view text);

// Appends {"name":"value",...}.
void append_json_headers(std::string& out, std::span<const HeaderView> headers);

void append_base64(std::string& out, std::string_view bytes);

// Appends the message as one JSON object: id, topic, key, type, content_type, payload (or
// payload_base64 where it is not UTF-8), headers, occurred_at. Fields that are empty are left out,
// but for the payload.
void append_json(std::string& out, const Envelope& envelope);

}  // namespace outrider
