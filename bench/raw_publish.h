#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace outrider::bench {

// What is published, by us and by the relay alike: the fields that the relay writes as headers.
struct RawMessages {
    explicit RawMessages(std::size_t count);

    std::vector<std::string> ids;
    std::vector<std::string> keys;
    std::string topic = "bench";
    std::string type = "bench.made";
    std::string content_type = "application/json";
    std::string occurred_at = "2026-11-15T12:00:00.000Z";
    std::string payload = std::string(200, 'x');
};

// Each publishes everything as fast as the client library can, with acknowledgements, and returns
// messages per second. No store, no order, no verdict per message: the ceiling for the relay.
[[nodiscard]] double publish_kafka(const RawMessages& messages, const std::string& address);
[[nodiscard]] double publish_nats(const RawMessages& messages, const std::string& url);
[[nodiscard]] double publish_rabbitmq(const RawMessages& messages, std::uint16_t port);
[[nodiscard]] double publish_redis(const RawMessages& messages, std::uint16_t port);

}  // namespace outrider::bench
