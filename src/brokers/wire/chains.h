#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/batch.h"

namespace outrider::wire {

// What is said of a message that was not offered since one before it failed.
constexpr std::string_view kBehind = "not offered: an earlier message of its key failed";

// For servers that may refuse one message and take the next: which message of a burst may be
// offered now. One of an order key at a time; the next one once it was acknowledged, without
// waiting for other keys; none behind a failure. With this a driver may promise keeps_order_keys.
class Chains {
public:
    explicit Chains(std::span<const Envelope> envelopes);

    // If not, whatever is left waits for an acknowledgement.
    [[nodiscard]] bool is_any_ready() const { return next_ < ready_.size(); }

    // The place in the burst of the next one that is ready.
    [[nodiscard]] std::size_t next();

    // The message was taken: its key goes on.
    void acknowledged(std::size_t place);

    // The offer was lost on the way: it is made once more.
    void again(std::size_t place) { ready_.push_back(place); }

private:
    std::vector<std::size_t> followers_;  // the next message of the same key, if there is one
    std::vector<std::size_t> ready_;      // in the order in which they are offered
    std::size_t next_ = 0;
};

}  // namespace outrider::wire
