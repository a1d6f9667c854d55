#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "outrider/time.h"

namespace outrider {

// The name of one message, the same on every delivery of it: a UUID. Consumers recognise repeats by
// it. A value; cheap to copy, ordered, safe to use from any thread.
class MessageId {
public:
    // The nil id, which names no message.
    constexpr MessageId() = default;
    explicit constexpr MessageId(const std::array<std::uint8_t, 16>& bytes) : bytes_(bytes) {}

    // A new id (UUID version 7): random, and rising within one process, so that indexes on it stay
    // compact. Throws Failure if the operating system has no randomness to give.
    [[nodiscard]] static MessageId generate();

    // Reads the usual form, 8-4-4-4-12 hexadecimal digits in either case. Nothing, if the text is
    // anything else.
    [[nodiscard]] static std::optional<MessageId> parse(std::string_view text);

    // The usual form in lower case, 36 characters.
    [[nodiscard]] std::string to_string() const;

    [[nodiscard]] constexpr const std::array<std::uint8_t, 16>& bytes() const { return bytes_; }
    [[nodiscard]] constexpr bool is_nil() const { return *this == MessageId{}; }

    constexpr auto operator<=>(const MessageId&) const = default;

private:
    std::array<std::uint8_t, 16> bytes_{};
};

// A name and a value that travel with a message as the broker's own headers. Text without control
// characters; a name is not empty, and there once.
struct Header {
    std::string name;
    std::string value;
    bool operator==(const Header&) const = default;
};

// One thing to deliver. Only `topic` and `payload` must be filled in.
struct Message {
    // Where it goes: destinations choose by topic. 1 to 255 bytes of UTF-8.
    std::string topic;

    // What it is ordered by: messages of one topic and key are delivered in the order in which they
    // were written. Empty: no order wanted. At most 1,024 bytes of UTF-8.
    std::string key;

    // The content, opaque to Outrider: any bytes, none included. At most
    // EnqueueOptions::payload_bytes_max.
    std::string payload;

    // What sort of message it is, for consumers, e.g. "order.placed". May stay empty.
    std::string type;

    // How to read the payload, e.g. "application/json". May stay empty.
    std::string content_type;

    // Carried to the broker as they are. A W3C `traceparent` belongs here.
    std::vector<Header> headers;

    // The caller's own id, for callers that want to recognise the message later. Nothing: a new one
    // is made.
    std::optional<MessageId> id;

    // When it happened, in the years 1 to 9999. Nothing: now, by the clock of the database.
    std::optional<WallTime> occurred_at;

    // Not to be delivered before this moment, in the years 1 to 9999. Holds back this message and
    // those behind it of the same key.
    std::optional<WallTime> deliver_after;
};

// Limits of a message. They are checked before the database sees it.
inline constexpr std::size_t kTopicBytesMax = 255;
inline constexpr std::size_t kKeyBytesMax = 1024;
inline constexpr std::size_t kHeadersMax = 64;
inline constexpr std::size_t kHeaderBytesMax = 8192;
inline constexpr std::size_t kPayloadBytesCeiling = 64U << 20U;

// How to write messages. The defaults suit nearly everybody.
struct EnqueueOptions {
    // The largest payload accepted. Default 1 MiB, ceiling 64 MiB. Raise it only if every broker
    // behind your destinations takes such messages; most brokers refuse far smaller ones than a
    // database does.
    std::size_t payload_bytes_max = 1U << 20U;

    // Called after every commit of a unit of work that wrote messages, on its thread; what it
    // throws is ignored. For a relay in the same process, which then needs not be told by the
    // database:
    //
    //     options.committed = [&relay] { relay.wake(); };
    //
    // Whoever ends a transaction without a unit calls wake() by hand.
    std::function<void()> committed;
};

// Throws Failure (correct) that names the field and the limit, unless the message may be written.
// Every enqueue calls it; it is here for those who want to know earlier.
void validate(const Message& message, const EnqueueOptions& options = {});

}  // namespace outrider
