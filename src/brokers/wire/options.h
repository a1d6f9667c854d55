#pragma once

#include <string>

#include "core/format.h"

namespace outrider::wire {

using outrider::Format;

// What every network broker is told about the form of its messages.
struct Options {
    // Where a message goes at the broker: text with the placeholders {topic}, {key} and {type}.
    std::string target = "{topic}";

    Format format = Format::plain;

    // CloudEvents only: the `source` attribute, a URI reference that names who publishes.
    std::string source = "/outrider";
};

}  // namespace outrider::wire
