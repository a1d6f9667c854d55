#include "brokers/mqtt/connack.h"

#include <algorithm>
#include <optional>
#include <string>

#include <mqtt_protocol.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace outrider::mqtt {
namespace {

constexpr char kConnack = '\x20';
constexpr std::size_t kNumberBytesMax = 4;
constexpr std::size_t kGreetingBytesMax = 64U << 10U;  // far more than any server has to say

std::size_t byte_at(std::string_view bytes, std::size_t place) {
    return static_cast<unsigned char>(bytes[place]);
}

// A number in MQTT's own form, seven bits a byte, which is taken off. Nothing: it has no end.
std::optional<std::size_t> take_number(std::string_view& rest) {
    std::size_t number = 0;
    for (std::size_t i = 0; i < std::min(rest.size(), kNumberBytesMax); ++i) {
        number |= (byte_at(rest, i) & 0x7fU) << 7U * i;
        if (byte_at(rest, i) >= 0x80U) continue;
        rest.remove_prefix(i + 1);
        return number;
    }
    return std::nullopt;
}

bool skip(std::string_view& rest, std::size_t bytes) {
    if (rest.size() < bytes) return false;
    rest.remove_prefix(bytes);
    return true;
}

bool skip_text(std::string_view& rest) {
    if (rest.size() < 2) return false;
    return skip(rest, 2 + (byte_at(rest, 0) << 8U | byte_at(rest, 1)));
}

// A property of a CONNACK, and its value. False: there is none of that number, or it has no end.
bool skip_property(std::string_view& rest) {
    const std::size_t id = byte_at(rest, 0);
    rest.remove_prefix(1);
    switch (id) {
        case MQTT_PROP_MAXIMUM_QOS:
        case MQTT_PROP_RETAIN_AVAILABLE:
        case MQTT_PROP_WILDCARD_SUB_AVAILABLE:
        case MQTT_PROP_SUBSCRIPTION_ID_AVAILABLE:
        case MQTT_PROP_SHARED_SUB_AVAILABLE:
            return skip(rest, 1);
        case MQTT_PROP_RECEIVE_MAXIMUM:
        case MQTT_PROP_TOPIC_ALIAS_MAXIMUM:
        case MQTT_PROP_SERVER_KEEP_ALIVE:
            return skip(rest, 2);
        case MQTT_PROP_SESSION_EXPIRY_INTERVAL:
        case MQTT_PROP_MAXIMUM_PACKET_SIZE:
            return skip(rest, 4);
        case MQTT_PROP_ASSIGNED_CLIENT_IDENTIFIER:
        case MQTT_PROP_REASON_STRING:
        case MQTT_PROP_RESPONSE_INFORMATION:
        case MQTT_PROP_SERVER_REFERENCE:
        case MQTT_PROP_AUTHENTICATION_METHOD:
        case MQTT_PROP_AUTHENTICATION_DATA:
            return skip_text(rest);
        case MQTT_PROP_USER_PROPERTY:
            return skip_text(rest) && skip_text(rest);
        default:
            return false;
    }
}

// Flags, a code, and the properties behind their length.
std::string_view flaw_of_body(std::string_view body) {
    constexpr std::string_view kFlaw =
        "no MQTT 5 server: its CONNACK has a property that MQTT 5 does not know, or is cut off";
    if (body.size() <= 2) return {};
    body.remove_prefix(2);
    const std::optional<std::size_t> bytes = take_number(body);
    if (!bytes || *bytes > body.size()) return kFlaw;
    for (std::string_view rest = body.substr(0, *bytes); !rest.empty();) {
        if (!skip_property(rest)) return kFlaw;
    }
    return {};
}

}  // namespace

Greeting judge_greeting(std::string_view bytes) {
    if (bytes.empty()) return {.bytes_wanted = 1};
    if (bytes[0] != kConnack) return {.flaw = "no MQTT server: it does not begin with a CONNACK"};
    std::string_view rest = bytes.substr(1);
    const std::optional<std::size_t> length = take_number(rest);
    if (!length && rest.size() < kNumberBytesMax) return {.bytes_wanted = bytes.size() + 1};
    const std::size_t head = bytes.size() - rest.size();
    if (!length || head + *length > kGreetingBytesMax) {
        return {.flaw = "no MQTT server: its CONNACK is too large"};
    }
    if (rest.size() < *length) return {.bytes_wanted = head + *length};
    return {.flaw = flaw_of_body(rest.substr(0, *length))};
}

Result<bool> check_greeting(int socket, bool is_over) {
    int there = 0;
    // A look at the bytes would take the error off a socket that has none.
    if (::ioctl(socket, FIONREAD, &there) != 0 || there == 0) return true;
    std::string bytes(kGreetingBytesMax, '\0');
    const ssize_t got = ::recv(socket, bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    const Greeting greeting = judge_greeting(bytes);
    if (!greeting.flaw.empty()) return Error{Remedy::wait, std::string(greeting.flaw)};
    if (greeting.bytes_wanted > 0 && is_over) {
        return Error{Remedy::wait, "the server hung up in the middle of its CONNACK"};
    }
    // What lies there already would wake poll() up again and again.
    const int wanted = static_cast<int>(std::max<std::size_t>(greeting.bytes_wanted, 1));
    ::setsockopt(socket, SOL_SOCKET, SO_RCVLOWAT, &wanted, sizeof wanted);
    return greeting.bytes_wanted == 0;
}

}  // namespace outrider::mqtt
