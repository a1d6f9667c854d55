#pragma once

#include "core/batch.h"
#include "core/text.h"

namespace outrider {

// Not every database checks what it is given: a topic or a key that is no UTF-8 is the message's
// own flaw, which holds up nobody else.
inline void check_texts(Envelope& envelope) {
    if (is_utf8(envelope.topic) && is_utf8(envelope.key)) return;
    envelope.flaw = "topic or key is not valid UTF-8";
}

}  // namespace outrider
