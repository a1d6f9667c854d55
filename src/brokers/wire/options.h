#pragma once

#include <cstdint>
#include <string>

namespace outrider::wire {

// How a message is written to a broker.
enum class Format : std::uint8_t {
    plain,                   // the payload as it is, our own fields as headers
    cloudevents_binary,      // the payload as it is, CloudEvents attributes as headers
    cloudevents_structured,  // one JSON object with the attributes and the payload in it
};

// What every network broker is told about the form of its messages.
struct Options {
    // Where a message goes at the broker: text with the placeholders {topic}, {key} and {type}.
    std::string target = "{topic}";

    Format format = Format::plain;

    // CloudEvents only: the `source` attribute, a URI reference that names who publishes.
    std::string source = "/outrider";
};

}  // namespace outrider::wire
