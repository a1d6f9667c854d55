#pragma once

#include <string_view>

#include "core/result.h"

namespace outrider::mqtt {

// What can be said of the first bytes that came from a server.
struct Greeting {
    std::size_t bytes_wanted = 0;  // so many must have come before it can be judged; 0: it was
    std::string_view flaw;         // why the library must not read it; empty: it may
};

// Whether these bytes begin with an answer to CONNECT (CONNACK) of which MQTT 5 knows every
// property. One of an older MQTT has none, and passes: the library knows what to make of it. Pure.
[[nodiscard]] Greeting judge_greeting(std::string_view bytes);

// Looks at what has come to a socket without TLS, and leaves it there: libmosquitto ends the whole
// process over a property that it does not know (an assertion in its log). True: the library may
// read. False: the greeting is not complete, and poll() wakes up when it is. `is_over`: nothing
// more will come.
[[nodiscard]] Result<bool> check_greeting(int socket, bool is_over);

}  // namespace outrider::mqtt
