#pragma once

#include <memory>

#include "brokers/http/options.h"
#include "core/broker.h"

namespace outrider {

// HTTP: every message is posted to a receiver, whose status is its verdict. What that means is in
// README.md beside this file.
[[nodiscard]] std::shared_ptr<BrokerDriver> make_http_broker(const HttpOptions& options);

}  // namespace outrider
