#pragma once

#include <memory>

#include "brokers/kafka/options.h"
#include "core/broker.h"

namespace outrider {

// Apache Kafka and what speaks its protocol: every message goes to the topic that its target names,
// to the partition that its key chooses. What an acknowledgement means is in README.md beside this
// file.
[[nodiscard]] std::shared_ptr<BrokerDriver> make_kafka_broker(const KafkaOptions& options);

}  // namespace outrider
