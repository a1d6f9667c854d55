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

    // Whether a URL may say these: not where they have a place of their own beside it.
    bool are_in_url = true;
};

// How the connection to a broker is encrypted.
struct Tls {
    // Whether it must be. The server's certificate and name are then verified.
    bool tls = false;

    // Files: authorities to trust (empty: those of the system), our own certificate and its key.
    std::string tls_ca;
    std::string tls_cert;
    std::string tls_key;
};

}  // namespace outrider::wire
