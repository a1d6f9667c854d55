#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace outrider::nats {

// Where JetStream is asked for a message of a stream, and what for.
[[nodiscard]] std::string stored_question(std::string_view stream);
[[nodiscard]] std::string stored_body(std::uint64_t sequence);

enum class Stored : std::uint8_t {
    unknown,  // it did not say
    there,    // the message with this id and subject
    gone,     // no message, or another one
};

// What JetStream's answer to that question says about the message that was published with this id
// (Nats-Msg-Id) to this subject: several destinations may lead into one stream, each with a copy of
// its own. Pure.
[[nodiscard]] Stored read_stored(
    std::string_view text,
    std::string_view id,
    std::string_view subject
);

}  // namespace outrider::nats
