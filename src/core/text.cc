#include "core/text.h"

#include <array>
#include <cstdint>

#include "core/clock.h"

namespace outrider {
namespace {

bool is_continuation(char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

// Smallest second byte allowed after a lead byte, to refuse overlong forms; and the largest, to
// refuse surrogates and what lies above U+10FFFF (RFC 3629, table of well-formed sequences).
bool second_byte_fits(unsigned char lead, unsigned char second) {
    switch (lead) {
        case 0xe0:
            return second >= 0xa0;
        case 0xed:
            return second <= 0x9f;
        case 0xf0:
            return second >= 0x90;
        case 0xf4:
            return second <= 0x8f;
        default:
            return true;
    }
}

std::size_t sequence_length(unsigned char lead) {
    if (lead < 0x80) return 1;
    if (lead >= 0xc2 && lead <= 0xdf) return 2;
    if (lead >= 0xe0 && lead <= 0xef) return 3;
    if (lead >= 0xf0 && lead <= 0xf4) return 4;
    return 0;
}

// Length of the well-formed character at `at`, 0 if there is none.
std::size_t character_length(std::string_view bytes, std::size_t at) {
    const auto lead = static_cast<unsigned char>(bytes[at]);
    const std::size_t length = sequence_length(lead);
    if (length <= 1) return length;
    if (at + length > bytes.size()) return 0;
    if (!second_byte_fits(lead, static_cast<unsigned char>(bytes[at + 1]))) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if (!is_continuation(bytes[at + i])) return 0;
    }
    return length;
}

void append_escape(std::string& out, unsigned char c) {
    constexpr std::string_view kHex = "0123456789abcdef";
    switch (c) {
        case '"':
            out += "\\\"";
            return;
        case '\\':
            out += "\\\\";
            return;
        case '\n':
            out += "\\n";
            return;
        case '\r':
            out += "\\r";
            return;
        case '\t':
            out += "\\t";
            return;
        default:
            break;
    }
    out += "\\u00";
    out += kHex[c >> 4U];
    out += kHex[c & 0x0fU];
}

constexpr std::array<bool, 256> make_plain_table() {
    std::array<bool, 256> plain{};
    for (std::size_t c = 0x20; c < 0x7f; ++c) plain[c] = c != '"' && c != '\\';
    return plain;
}

// Characters that stand for themselves in a JSON string and need no look at their neighbours.
constexpr std::array<bool, 256> kPlain = make_plain_table();

void append_member(std::string& out, std::string_view name, std::string_view value) {
    if (value.empty()) return;
    out += ",\"";
    out += name;
    out += "\":";
    append_json_string(out, value);
}

void append_payload(std::string& out, std::string_view payload) {
    if (is_utf8(payload)) {
        out += ",\"payload\":";
        append_json_string(out, payload);
        return;
    }
    out += ",\"payload_base64\":\"";
    append_base64(out, payload);
    out += '"';
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(separator), text.size());
        parts.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

std::string lower(std::string text) {
    for (char& c : text) c = lower(c);
    return text;
}

bool is_plain_name(std::string_view text) {
    constexpr std::string_view kCharacters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:*";
    constexpr std::size_t kLongest = 63;
    return !text.empty() && text.size() <= kLongest &&
           text.find_first_not_of(kCharacters) == std::string_view::npos;
}

bool is_utf8(std::string_view bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t length = character_length(bytes, at);
        if (length == 0) return false;
        at += length;
    }
    return true;
}

void append_json_string(std::string& out, std::string_view text) {
    out += '"';
    for (std::size_t at = 0; at < text.size();) {
        // Runs of plain characters are nearly everything, so they are copied whole.
        std::size_t end = at;
        while (end < text.size() && kPlain[static_cast<unsigned char>(text[end])]) ++end;
        out.append(text, at, end - at);
        at = end;
        if (at == text.size()) break;
        const auto c = static_cast<unsigned char>(text[at]);
        const std::size_t length = character_length(text, at);
        if (length == 1) {
            append_escape(out, c);
        } else if (length == 0) {
            out += "\xef\xbf\xbd";
        } else {
            out.append(text, at, length);
        }
        at += length == 0 ? 1 : length;
    }
    out += '"';
}

void append_json_headers(std::string& out, std::span<const HeaderView> headers) {
    out += '{';
    bool first = true;
    for (const HeaderView& header : headers) {
        if (!first) out += ',';
        first = false;
        append_json_string(out, header.name);
        out += ':';
        append_json_string(out, header.value);
    }
    out += '}';
}

void append_base64(std::string& out, std::string_view bytes) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::size_t present = std::min<std::size_t>(3, bytes.size() - at);
        std::uint32_t group = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            group <<= 8U;
            if (i < present) group |= static_cast<unsigned char>(bytes[at + i]);
        }
        for (std::size_t i = 0; i < 4; ++i) {
            out += i <= present ? kDigits[(group >> (18U - 6U * i)) & 0x3fU] : '=';
        }
    }
}

void append_json(std::string& out, const Envelope& envelope) {
    out += "{\"id\":\"";
    out += envelope.id.to_string();
    out += '"';
    append_member(out, "topic", envelope.topic);
    append_member(out, "key", envelope.key);
    append_member(out, "type", envelope.type);
    append_member(out, "content_type", envelope.content_type);
    append_payload(out, envelope.payload);
    if (!envelope.headers.empty()) {
        out += ",\"headers\":";
        append_json_headers(out, envelope.headers);
    }
    out += ",\"occurred_at\":\"";
    out += to_iso(envelope.occurred_at);
    out += "\"}";
}

}  // namespace outrider
