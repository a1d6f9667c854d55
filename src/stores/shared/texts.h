#pragma once

#include "core/batch.h"
#include "core/text.h"

namespace outrider {

// Not every database checks what it is given: a text that is no UTF-8 is the message's own flaw,
// which holds up nobody else.
inline void check_texts(Envelope& envelope) {
    const bool is_good = is_utf8(envelope.topic) && is_utf8(envelope.key) &&
                         is_utf8(envelope.type) && is_utf8(envelope.content_type);
    if (!is_good) envelope.flaw = "topic, key, type or content type is not valid UTF-8";
}

}  // namespace outrider
