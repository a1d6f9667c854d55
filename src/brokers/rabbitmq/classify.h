#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/verdict.h"

namespace outrider::rabbitmq {

// Why the server closed a channel or a connection: its code and its sentence.
struct Closure {
    std::uint16_t code = 0;
    std::string text;
};

// What a closed channel means for the message that caused it. `unanswered`: nobody in particular
// did. Pure.
[[nodiscard]] Verdict classify(const Closure& closure);

// Whether the sentence is about messages to this exchange, as "NOT_FOUND - no exchange 'shop' in
// vhost '/'", and with this routing key, as "ACCESS_REFUSED - write access to topic 'orders' in
// exchange 'shop' in vhost '/' refused for user 'me'". A long sentence is cut short by the server,
// and then about nobody. Pure.
[[nodiscard]] bool is_about(
    std::string_view text,
    std::string_view exchange,
    std::string_view routing_key
);

// The two numbers of "message size 2000 is larger than configured max size 1000"; 0: not there.
struct Sizes {
    std::size_t message = 0;
    std::size_t most = 0;
};
[[nodiscard]] Sizes sizes_in(std::string_view text);

}  // namespace outrider::rabbitmq
