#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "outrider/message.h"

namespace outrider {

class BrokerDriver;

// Appends one JSON object per line: id, topic, key, type, content_type, payload (or
// payload_base64), headers, occurred_at. Acknowledged means on disk. Several relays may share one
// file.
[[nodiscard]] std::shared_ptr<BrokerDriver> file_broker(std::string path);

// The same lines on standard output. Acknowledged means handed to the operating system.
[[nodiscard]] std::shared_ptr<BrokerDriver> stdout_broker();

// Acknowledges everything and keeps nothing: to measure a store alone.
[[nodiscard]] std::shared_ptr<BrokerDriver> null_broker();

// Brokers behind a network, each in a library of its own: link outrider::http, outrider::kafka,
// outrider::mqtt, outrider::nats, outrider::rabbitmq or outrider::redis. The URL is that of the
// configuration, with all options behind its question mark, also those that are keys of a
// destination there (target, format, source); src/brokers/ has a README for each, which also says
// what its acknowledgement means. Throws Failure (correct) that says what is wrong with the URL,
// and never quotes a password. Nothing is connected yet. These libraries come with
// add_subdirectory; `cmake --install` leaves them out.
[[nodiscard]] std::shared_ptr<BrokerDriver> http_broker(std::string_view url);
[[nodiscard]] std::shared_ptr<BrokerDriver> kafka_broker(std::string_view url);
[[nodiscard]] std::shared_ptr<BrokerDriver> mqtt_broker(std::string_view url);
[[nodiscard]] std::shared_ptr<BrokerDriver> nats_broker(std::string_view url);
[[nodiscard]] std::shared_ptr<BrokerDriver> rabbitmq_broker(std::string_view url);
[[nodiscard]] std::shared_ptr<BrokerDriver> redis_broker(std::string_view url);

// One message as a handler sees it. The views live as long as the call.
struct Delivery {
    MessageId id;
    std::string_view topic;
    std::string_view key;
    std::string_view type;
    std::string_view content_type;
    std::string_view payload;
    std::vector<Header> headers;
    WallTime occurred_at;
    std::uint32_t attempt = 1;  // 1 is the first
};

// Returning acknowledges the message; an exception refuses it, and its text becomes the reason.
// Called from a thread of the relay, one message after the other; several destinations call their
// handlers side by side.
using Handler = std::function<void(const Delivery&)>;

// Calls one function in this process.
[[nodiscard]] std::shared_ptr<BrokerDriver> handler_broker(Handler handler);

}  // namespace outrider
