#pragma once

#include <algorithm>
#include <cstddef>

#include "outrider/destination.h"

namespace outrider {

// How many messages the next turn may take: few at first, for latency; twice as many while claims
// come back full, since the fixed cost of a turn is spread over them; one after the broker went
// silent, so that a message that breaks the link is alone when it does. A value; no thread, no
// clock.
class Pace {
public:
    explicit Pace(const BatchLimits& limits) : limits_(limits) { calm(); }

    [[nodiscard]] BatchLimits limits() const { return {messages_, limits_.bytes}; }

    void grow() { messages_ = std::min(messages_ * 2, limits_.messages); }
    void calm() { messages_ = std::max(messages_, std::min(kFirst, limits_.messages)); }
    void shrink() { messages_ = 1; }

private:
    static constexpr std::size_t kFirst = 256;

    BatchLimits limits_;
    std::size_t messages_ = 1;
};

}  // namespace outrider
