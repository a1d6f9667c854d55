#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "outrider/message.h"
#include "outrider/time.h"

namespace outrider {

// What messages of a destination are ordered by, as one number: messages that share it keep their
// order, and wait behind each other. A collision of two keys couples them and costs speed, never
// order.
using OrderKey = std::int64_t;

struct HeaderView {
    std::string_view name;
    std::string_view value;
};

// A claimed message, as the relay has it in hand. Every view points into the batch it came in:
// whoever wants to keep something copies it.
struct Envelope {
    MessageId id;
    std::string_view topic;
    std::string_view key;  // empty: none
    std::string_view type;
    std::string_view content_type;
    std::string_view payload;
    std::span<const HeaderView> headers;
    WallTime occurred_at;

    // Set only if it lies ahead of the claim: not to be offered now. Holds back the key behind it.
    std::optional<WallTime> deliver_after;

    // Its number in the log, which rises in the order of delivery within a lane.
    std::int64_t seq = 0;
    std::uint32_t lane = 0;
    OrderKey order_key = 0;

    // How often it was refused so far, and when for the first time.
    std::uint32_t attempts = 0;
    std::optional<WallTime> refused_at;

    // It comes from the parked messages, not from the log.
    bool parked = false;

    // A message before it, parked or dead and not in this batch, holds back its key: it must not be
    // offered.
    bool blocked = false;

    // Not empty: why nobody could ever deliver it, e.g. unreadable headers.
    std::string_view flaw;
};

}  // namespace outrider
