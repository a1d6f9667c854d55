#pragma once

#include <string>

#include "brokers/kafka/client.h"
#include "core/broker.h"

namespace outrider::kafka {

// What a cluster says about itself, also which partitions have no leader. The protocol of Kafka
// tells no version. Settings that the user may not read are left out.
[[nodiscard]] Result<BrokerFacts> describe_cluster(const Client& client, Deadline deadline);

// What an acknowledgement means where topics have so many replicas and so many of them must be in
// sync; empty: not known. Pure.
[[nodiscard]] std::string durability_of(
    const std::string& replicas,
    const std::string& in_sync_min
);

}  // namespace outrider::kafka
