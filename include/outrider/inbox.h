#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "outrider/brokers.h"
#include "outrider/message.h"

// The consumer's side. Brokers and relays deliver at least once; the inbox turns that into once. It
// remembers, in the consumer's own database and in the consumer's own transaction, which messages
// have had their effect. The memory and the effect are committed together or not at all, and a
// unique key in the database decides who is first, so that any number of copies may arrive at once.
//
// This header holds what all databases share; the Inbox itself is in outrider/postgres_inbox.h and
// outrider/sqlite_inbox.h.

namespace outrider {

// What the rest of a key's messages do when one of them is missing.
enum class OnGap : std::uint8_t {
    go_on,   // the effect runs, and the receipt tells how many are missing (default)
    refuse,  // Failure (wait): nothing is remembered, so that the message can be taken again later
};

// How an inbox behaves. The same in every process of a consumer.
struct InboxOptions {
    // How long a message is remembered after its effect. A copy that comes later has its effect
    // again, so never choose less than the longest time after which your broker, or an operator who
    // replays, may deliver once more. Default 7 days.
    Duration retention = std::chrono::hours(24 * 7);

    // Default go_on. Take refuse where an effect makes no sense before the ones that are missing,
    // and the broker delivers again what was not acknowledged. Only messages with a position have
    // gaps.
    OnGap on_gap = OnGap::go_on;
};

// The header in which a message may carry its position: 1, 2, 3 and so on, counted by the producer
// within its topic and key, for instance the version of the thing that the key names.
inline constexpr std::string_view kPositionHeader = "position";

// A message as it reached a consumer: its id, which must be the one it was enqueued with, and where
// known its place among the messages of its topic and key.
struct Arrival {
    // An id is an arrival of its own: inbox.once(connection, "billing", id, ...).
    // NOLINTNEXTLINE(google-explicit-constructor)
    Arrival(const MessageId& id_) : id(id_) {}
    Arrival(const MessageId& id_, std::string topic_, std::string key_, std::int64_t position_)
        : id(id_),
          topic(std::move(topic_)),
          key(std::move(key_)),
          position(position_) {}

    // What a handler was given, with its position if it has that header and it is a number.
    [[nodiscard]] static Arrival of(const Delivery& delivery);

    MessageId id;
    std::string topic;
    std::string key;
    std::optional<std::int64_t> position;
};

// What the inbox says of an arrival. Converts to whether its effect ran.
struct Receipt {
    // It was the first copy, and its effect has run in this transaction.
    bool first = false;

    // So many messages of its key should have come before it and have not. Only where it carries
    // its position, and never for the first message that is known of a key.
    std::int64_t missing = 0;

    // A later message of its key had its effect before it.
    bool late = false;

    explicit operator bool() const { return first; }
};

// What an arrival means whose id was new or not, at this position, when `previous` was the highest
// position of its key so far (nothing: none was known). Pure.
[[nodiscard]] Receipt judge(
    bool is_new,
    std::optional<std::int64_t> position,
    std::optional<std::int64_t> previous
);

// Throws Failure (correct) unless the consumer has a name (1 to 63 letters, digits and - _ . : *)
// and the message an id.
void validate(std::string_view consumer, const Arrival& arrival);

// Throws Failure (wait) if messages are missing before this one and the options say so.
void check_gap(const Arrival& arrival, const Receipt& receipt, const InboxOptions& options);

// The one way in which every inbox works, for adapters to further client libraries. An entry is the
// record of an arrival, written by its constructor in the caller's transaction: receipt() tells
// what the database decided, keep() makes it last. An entry that ends without keep() must see to it
// that the record cannot be committed without the effect.
template <class Entry, class Effect>
Receipt run_once(
    Entry& entry,
    const Arrival& arrival,
    const InboxOptions& options,
    Effect&& effect
) {
    const Receipt receipt = entry.receipt();
    if (receipt.first) {
        check_gap(arrival, receipt, options);
        std::forward<Effect>(effect)();
    }
    entry.keep();
    return receipt;
}

}  // namespace outrider
