#pragma once

#include <memory>

#include "brokers/nats/options.h"
#include "core/broker.h"

namespace outrider {

// NATS JetStream: every message is published to the subject that its target names and acknowledged
// by the stream that stores it. What that means is in README.md beside this file.
[[nodiscard]] std::shared_ptr<BrokerDriver> make_nats_broker(const NatsOptions& options);

}  // namespace outrider
