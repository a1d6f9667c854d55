#pragma once

#include <functional>
#include <memory>

#include "core/broker.h"

namespace outrider::wire {

// A driver whose connections are made by one function, which may be called from any thread.
[[nodiscard]] std::shared_ptr<BrokerDriver> make_driver(
    std::function<Result<std::unique_ptr<Broker>>()> open
);

}  // namespace outrider::wire
