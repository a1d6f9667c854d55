#pragma once

#include <memory>

#include "brokers/rabbitmq/options.h"
#include "core/broker.h"

namespace outrider {

// RabbitMQ: every message is published to an exchange, persistent and mandatory, and confirmed by
// the queues that took it. What that means is in README.md beside this file.
[[nodiscard]] std::shared_ptr<BrokerDriver> make_rabbitmq_broker(const RabbitmqOptions& options);

}  // namespace outrider
