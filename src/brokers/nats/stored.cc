#include "brokers/nats/stored.h"

#include "brokers/nats/json.h"

namespace outrider::nats {
namespace {

constexpr std::uint64_t kNoMessage = 10037;
constexpr std::uint64_t kNoStream = 10059;

// What is not base64 ends it.
std::string decode_base64(std::string_view text) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    unsigned bits = 0;
    int count = 0;
    for (const char c : text) {
        const std::size_t digit = kDigits.find(c);
        if (digit == std::string_view::npos) break;
        bits = bits << 6U | static_cast<unsigned>(digit);
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>(bits >> static_cast<unsigned>(count) & 0xffU);
    }
    return bytes;
}

}  // namespace

std::string stored_question(std::string_view stream) {
    return "STREAM.MSG.GET." + std::string(stream);
}

std::string stored_body(std::uint64_t sequence) {
    return "{\"seq\":" + std::to_string(sequence) + "}";
}

Stored read_stored(std::string_view text, std::string_view id, std::string_view subject) {
    const auto answer = JsonObject::parse(text);
    if (!answer) return Stored::unknown;
    if (const auto error = JsonObject::parse(answer->raw("error")); error) {
        const std::uint64_t code = error->number("err_code");
        return code == kNoMessage || code == kNoStream ? Stored::gone : Stored::unknown;
    }
    const auto message = JsonObject::parse(answer->raw("message"));
    if (!message) return Stored::unknown;
    // No header can forge this line: those with control characters are not published.
    const std::string line = "\r\nNats-Msg-Id: " + std::string(id) + "\r\n";
    const std::string headers = decode_base64(message->text("hdrs"));
    const bool is_it =
        headers.find(line) != std::string::npos && message->text("subject") == subject;
    return is_it ? Stored::there : Stored::gone;
}

}  // namespace outrider::nats
