#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "outrider/time.h"

#include "brokers/wire/options.h"
#include "brokers/wire/url.h"
#include "core/result.h"

namespace outrider {

// What it means that the server took a message which nobody has subscribed to: it is gone.
enum class NoSubscribers : std::uint8_t {
    refused,       // it waits until somebody has (default)
    acknowledged,  // that is fine
};

// How to reach an MQTT 5 server, and how to publish there.
struct MqttOptions : wire::Tls {
    // Servers of one cluster; the first that answers is used.
    std::vector<wire::Endpoint> endpoints;

    // Empty: no login.
    std::string user;
    std::string password;

    // 1: at least once. 2: the server hands a message on once per connection of ours.
    std::uint64_t qos = 1;

    // Whether the server keeps the last message of each topic for those who subscribe later.
    bool retain = false;

    NoSubscribers no_subscribers = NoSubscribers::refused;

    // How long the server may be silent while it owes acknowledgements.
    Duration ack_wait = std::chrono::seconds(10);

    // After how long a silence of ours the server may close the connection. 0: never.
    Duration keepalive = std::chrono::seconds(60);

    wire::Options wire;
};

// Reads mqtt://[user:password@]host[:port][,host...][?qos=&retain=&no_subscribers=&ack_wait=
// &keepalive=&tls_ca=&tls_cert=&tls_key=&target=&format=&source=] over the given defaults; mqtts:
// is the same with TLS. No part of the URL but names is ever quoted in an error.
[[nodiscard]] Result<MqttOptions> parse_mqtt_url(std::string_view url, MqttOptions defaults = {});

}  // namespace outrider
