#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "outrider/time.h"

#include "brokers/wire/options.h"
#include "brokers/wire/url.h"
#include "core/result.h"

namespace outrider {

// What becomes of a message that no queue is bound for.
enum class Unroutable : std::uint8_t {
    refused,       // it waits until there is a binding (default)
    unacceptable,  // it is a dead letter at once
};

// How to reach a RabbitMQ server, and how to publish there.
struct RabbitmqOptions : wire::Tls {
    // Nodes of one cluster; the first that answers is used.
    std::vector<wire::Endpoint> endpoints;

    std::string user = "guest";
    std::string password = "guest";
    std::string vhost = "/";

    // Where messages are published: a template as `target` is, which then gives the routing key. A
    // target of the form "exchange/routing.key" overrides it. Empty: the default exchange, whose
    // routing keys are names of queues.
    std::string exchange = "amq.topic";

    Unroutable unroutable = Unroutable::refused;

    // Both sides give up a connection that was silent for twice as long.
    Duration heartbeat = std::chrono::seconds(30);

    wire::Options wire;
};

// Reads amqp://[user:password@]host[:port][,host...][/vhost][?exchange=&unroutable=&heartbeat=
// &tls_ca=&tls_cert=&tls_key=&target=&format=&source=] over the given defaults; amqps: is the same
// with TLS. No part of the URL but names is ever quoted in an error.
[[nodiscard]] Result<RabbitmqOptions> parse_rabbitmq_url(
    std::string_view url,
    RabbitmqOptions defaults = {}
);

}  // namespace outrider
