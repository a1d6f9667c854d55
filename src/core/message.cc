#include "outrider/message.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>

#include <sys/random.h>

#include "outrider/error.h"

#include "core/clock.h"
#include "core/text.h"

namespace outrider {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

int hex_value(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    return -1;
}

bool is_dash_place(std::size_t place) {
    return place == 8 || place == 13 || place == 18 || place == 23;
}

void fill_random(std::array<std::uint8_t, 16>& bytes) {
    if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
        throw Failure({Remedy::call, "the operating system gave no random bytes for a message id"});
    }
}

// Milliseconds and a counter below them, 60 bits that never repeat or go back within a process,
// whatever the clock does: the later of "now" and "one more than last time".
std::uint64_t next_tick() {
    using namespace std::chrono;
    static std::atomic<std::uint64_t> last{0};
    const auto millis = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
    const std::uint64_t now = static_cast<std::uint64_t>(millis) << 12U;
    std::uint64_t seen = last.load(std::memory_order_relaxed);
    std::uint64_t next = 0;
    do {
        next = std::max(now, seen + 1);
    } while (!last.compare_exchange_weak(seen, next, std::memory_order_relaxed));
    return next;
}

[[noreturn]] void refuse(std::string text) {
    throw Failure({Remedy::correct, std::move(text)});
}

void check_length(std::string_view field, std::size_t size, std::size_t limit) {
    if (size <= limit) return;
    refuse(
        "message." + std::string(field) + " has " + std::to_string(size) + " bytes, the limit is " +
        std::to_string(limit)
    );
}

void check_text(std::string_view field, std::string_view text, std::size_t limit) {
    check_length(field, text.size(), limit);
    if (!is_utf8(text)) refuse("message." + std::string(field) + " is not valid UTF-8");
    if (text.find('\0') != std::string_view::npos) {
        refuse("message." + std::string(field) + " contains a NUL character");
    }
}

// Line breaks in a header would let one message write another's headers on some brokers.
void check_header_text(std::string_view field, std::string_view text) {
    check_text(field, text, kHeaderBytesMax);
    const bool has_control = std::any_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    });
    if (has_control) refuse("message." + std::string(field) + " contains a control character");
}

void check_headers(const std::vector<Header>& headers) {
    if (headers.size() > kHeadersMax) {
        refuse(
            "message.headers has " + std::to_string(headers.size()) + " entries, the limit is " +
            std::to_string(kHeadersMax)
        );
    }
    std::set<std::string_view> names;
    for (const Header& header : headers) {
        if (header.name.empty()) refuse("message.headers has an entry without a name");
        check_header_text("headers name", header.name);
        check_header_text("headers value of '" + header.name + "'", header.value);
        if (!names.insert(header.name).second) {
            refuse("message.headers has '" + header.name + "' twice: a name has one value");
        }
    }
}

void check_moment(std::string_view field, const std::optional<WallTime>& moment) {
    if (!moment || (*moment >= kFirstMoment && *moment <= kLastMoment)) return;
    refuse("message." + std::string(field) + " lies outside the years 1 to 9999");
}

}  // namespace

MessageId MessageId::generate() {
    std::array<std::uint8_t, 16> bytes{};
    fill_random(bytes);
    const std::uint64_t tick = next_tick();
    for (std::size_t i = 0; i < 6; ++i) {
        bytes[i] = static_cast<std::uint8_t>(tick >> (52U - 8U * i));
    }
    bytes[6] = static_cast<std::uint8_t>(0x70U | ((tick >> 8U) & 0x0fU));
    bytes[7] = static_cast<std::uint8_t>(tick);
    bytes[8] = static_cast<std::uint8_t>(0x80U | (bytes[8] & 0x3fU));
    return MessageId(bytes);
}

std::optional<MessageId> MessageId::parse(std::string_view text) {
    if (text.size() != 36) return std::nullopt;
    std::array<std::uint8_t, 16> bytes{};
    std::size_t nibble = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (is_dash_place(i)) {
            if (text[i] != '-') return std::nullopt;
            continue;
        }
        const int value = hex_value(text[i]);
        if (value < 0) return std::nullopt;
        const unsigned shifted =
            nibble % 2 == 0 ? static_cast<unsigned>(value) << 4U : static_cast<unsigned>(value);
        bytes[nibble / 2] = static_cast<std::uint8_t>(bytes[nibble / 2] | shifted);
        ++nibble;
    }
    return MessageId(bytes);
}

std::string MessageId::to_string() const {
    std::string text;
    text.reserve(36);
    for (const std::uint8_t byte : bytes_) {
        if (is_dash_place(text.size())) text += '-';
        text += kHexDigits[byte >> 4U];
        text += kHexDigits[byte & 0x0fU];
    }
    return text;
}

void validate(const Message& message, const EnqueueOptions& options) {
    if (message.topic.empty()) refuse("message.topic is empty: every message needs one");
    check_text("topic", message.topic, kTopicBytesMax);
    check_text("key", message.key, kKeyBytesMax);
    check_header_text("type", message.type);
    check_header_text("content_type", message.content_type);
    check_headers(message.headers);
    check_length(
        "payload", message.payload.size(), std::min(options.payload_bytes_max, kPayloadBytesCeiling)
    );
    check_moment("occurred_at", message.occurred_at);
    check_moment("deliver_after", message.deliver_after);
    if (message.id && message.id->is_nil()) refuse("message.id is the nil id, which names nothing");
}

}  // namespace outrider
