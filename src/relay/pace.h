#pragma once

#include <algorithm>
#include <cstddef>

#include "outrider/destination.h"

namespace outrider {

// How many messages the next turn may take: few at first, for latency; twice as many while claims
// come back full, since the fixed cost of a turn is spread over them; one after the broker went
// silent, so that a message that breaks the link is alone when it does. And how long to rest after
// a turn that took all there was: messages that come one by one are cheaper in company. A value; no
// thread, no clock.
class Pace {
public:
    explicit Pace(const BatchLimits& limits) : limits_(limits) { calm(); }

    [[nodiscard]] BatchLimits limits() const { return {messages_, limits_.bytes}; }

    void grow() { messages_ = std::min(messages_ * 2, limits_.messages); }
    void calm() { messages_ = std::max(messages_, std::min(kFirst, limits_.messages)); }
    void shrink() { messages_ = 1; }

    // After a turn with so many messages, whose claim and settle have taken `store_time`. What they
    // took longer than the quickest of late, they waited for a processor or a disk that the
    // application was using: then a turn for many is worth waiting for. Where there is room for
    // both, or only a few messages come at a time, latency counts, and there is no rest. Each may
    // be twice the one before: a single turn that was held up has many messages, too, and those
    // that come behind it should not wait once more.
    [[nodiscard]] Duration rest_after(std::size_t messages, Duration store_time) {
        quickest_ = std::min(quickest_ + quickest_ / kForgets + Duration(1), store_time);
        const auto company = static_cast<Duration::rep>(std::max(messages, kFew) - kFew);
        const Duration crowd = (store_time - quickest_) * kPatience;
        rest_ = std::min({kRestPerMessage * company, crowd, rest_ * 2 + kRestFirst, kRestMax});
        return rest_;
    }

    // There was nothing to do.
    void idle() { rest_ = Duration::zero(); }

    static constexpr Duration kRestFirst = std::chrono::milliseconds(1);
    static constexpr Duration kRestMax = std::chrono::milliseconds(50);

private:
    static constexpr std::size_t kFirst = 256;
    static constexpr int kForgets = 1000;  // turns until the quickest has doubled, about
    static constexpr int kPatience = 24;
    static constexpr std::size_t kFew = 24;
    // Who rests meets more messages, and rests longer: from 8,000 a second on up to the most.
    static constexpr Duration kRestPerMessage = std::chrono::microseconds(120);

    BatchLimits limits_;
    std::size_t messages_ = 1;
    Duration quickest_ = std::chrono::hours(1);
    Duration rest_ = Duration::zero();
};

}  // namespace outrider
