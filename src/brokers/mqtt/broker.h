#pragma once

#include <memory>

#include "brokers/mqtt/options.h"
#include "core/broker.h"

namespace outrider {

// MQTT 5: every message is published to the topic that its target names and acknowledged by the
// server. What that means is in README.md beside this file.
[[nodiscard]] std::shared_ptr<BrokerDriver> make_mqtt_broker(const MqttOptions& options);

}  // namespace outrider
