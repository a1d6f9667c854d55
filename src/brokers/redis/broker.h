#pragma once

#include <memory>

#include "brokers/redis/options.h"
#include "core/broker.h"

namespace outrider {

// Redis Streams: every message becomes an entry of the stream that its target names. What an
// acknowledgement means is in README.md beside this file. The options must have a target that
// wire::Target understands; parse_redis_url() sees to it.
[[nodiscard]] std::shared_ptr<BrokerDriver> make_redis_broker(const RedisOptions& options);

}  // namespace outrider
