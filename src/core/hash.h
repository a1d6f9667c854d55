#pragma once

#include <cstdint>
#include <string_view>

#include "outrider/destination.h"
#include "outrider/envelope.h"

namespace outrider {

// Of a message with this topic and key (empty: none) at this place in the log.
[[nodiscard]] OrderKey order_key(
    Order order,
    std::string_view topic,
    std::string_view key,
    std::int64_t seq
);

// Of a message that waits for nobody and holds back nobody: its own.
[[nodiscard]] OrderKey own_order_key(std::int64_t seq);

}  // namespace outrider
