#include "brokers/mqtt/options.h"

#include "brokers/mqtt/topic.h"
#include "brokers/wire/parameters.h"

namespace outrider {
namespace {

constexpr std::uint16_t kPort = 1883;
constexpr std::uint16_t kTlsPort = 8883;
constexpr auto kKeepaliveMin = std::chrono::seconds(5);  // that of the library
constexpr auto kKeepaliveMax = std::chrono::seconds(65535);

Error fault(std::string text) {
    return Error{Remedy::correct, std::move(text)};
}

Result<void> read_parameters(std::vector<wire::Parameter> given, MqttOptions& options) {
    wire::Parameters parameters(std::move(given));
    int no_subscribers = static_cast<int>(options.no_subscribers);
    parameters.number("qos", options.qos);
    parameters.flag("retain", options.retain);
    parameters.choice("no_subscribers", {"refused", "acknowledged"}, no_subscribers);
    parameters.duration("ack_wait", options.ack_wait);
    parameters.duration("keepalive", options.keepalive);
    parameters.tls(options, "mqtts");
    parameters.wire(options.wire);
    options.no_subscribers = static_cast<NoSubscribers>(no_subscribers);
    return parameters.finish();
}

Result<void> check(const MqttOptions& options) {
    if (options.qos != 1 && options.qos != 2) {
        return fault("qos takes 1 or 2: with 0 nobody would know what has arrived");
    }
    if (options.qos == 2 && options.no_subscribers == NoSubscribers::refused) {
        return fault(
            "with qos=2 the client library does not tell that nobody has subscribed: say "
            "no_subscribers=acknowledged if that may be"
        );
    }
    if (options.ack_wait <= Duration::zero()) return fault("ack_wait must be longer than 0");
    const bool has_keepalive = options.keepalive != Duration::zero();
    if (has_keepalive && (options.keepalive < kKeepaliveMin || options.keepalive > kKeepaliveMax)) {
        return fault("keepalive must be 0s (none) or from 5s to 65535s");
    }
    const Result<wire::Target> target = mqtt::parse_target(options.wire.target);
    if (!target) return target.error();
    return {};
}

}  // namespace

Result<MqttOptions> parse_mqtt_url(std::string_view url, MqttOptions defaults) {
    Result<wire::Url> parsed = wire::parse_url(url);
    if (!parsed) return parsed.error();
    MqttOptions options = std::move(defaults);
    options.tls = parsed->scheme == "mqtts";
    if (!options.tls && parsed->scheme != "mqtt") return fault("expected an mqtt: URL");
    if (!parsed->path.empty()) return fault("an mqtt: URL has no path: topics stand in target");
    options.endpoints = std::move(parsed->endpoints);
    for (wire::Endpoint& endpoint : options.endpoints) {
        if (endpoint.port == 0) endpoint.port = options.tls ? kTlsPort : kPort;
    }
    options.user = parsed->user;
    options.password = parsed->password;
    if (Result<void> read = read_parameters(std::move(parsed->parameters), options); !read) {
        return read.error();
    }
    if (Result<void> good = check(options); !good) return good.error();
    return options;
}

}  // namespace outrider
