#pragma once

#include <cstdint>

namespace outrider {

// How a message is written to a broker behind a network.
enum class Format : std::uint8_t {
    plain,                   // the payload as it is, our own fields as headers
    cloudevents_binary,      // the payload as it is, CloudEvents attributes as headers
    cloudevents_structured,  // one JSON object with the attributes and the payload in it
};

}  // namespace outrider
