#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

#include "outrider/destination.h"

namespace outrider::postgres {

// A duration as a setting of the server, which counts milliseconds in 32 bits.
[[nodiscard]] inline std::string setting_of(Duration duration) {
    const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    return std::to_string(std::min<std::int64_t>(millis, kMost));
}

// A session that is idle in its transaction for longer than the broker may take has been frozen:
// what it holds is freed by the server five seconds later. As a setting.
[[nodiscard]] inline std::string freeze_patience(const Destination& destination) {
    return setting_of(destination.publish_deadline + std::chrono::seconds(5));
}

}  // namespace outrider::postgres
