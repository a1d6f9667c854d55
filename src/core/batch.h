#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "outrider/message.h"

#include "core/hash.h"

namespace outrider {

struct HeaderView {
    std::string_view name;
    std::string_view value;
};

// A claimed message. Every view points into the Batch it came in.
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

// One claim: envelopes, oldest first within each order key, the memory they live in, and the lanes
// they were taken from. Dropped unsettled, the claim is given back as if it had never been.
struct Batch {
    // What a store keeps with a claim: its memory, its open transaction.
    class Hold {
    public:
        virtual ~Hold() = default;
    };

    std::vector<Envelope> envelopes;

    // The store's time at the claim. Due times are reckoned from it.
    WallTime now;

    // A limit was reached: more is waiting, so claim again at once.
    bool full = false;

    // There is something to settle even without envelopes: the claim passed over enough messages of
    // other topics.
    bool passed = false;

    // Messages of one order key may have different topics, so a broker that keeps the order of a
    // topic and key does not keep theirs.
    bool keys_cross_topics = false;

    // All lanes are in other hands. Nothing was claimed.
    bool held_elsewhere = false;

    // The operator has paused the destination. Nothing was claimed.
    bool paused = false;

    // When the next parked message of the destination is due, if one is.
    std::optional<WallTime> next_due;

    std::unique_ptr<Hold> hold;
};

// Bytes of a message as they count against the limits of a batch.
[[nodiscard]] std::size_t weight(const Envelope& envelope);

}  // namespace outrider
