#pragma once

#include "core/verdict.h"

namespace outrider::http {

// What a receiver's status means for the message. Only 2xx acknowledges. Pure.
[[nodiscard]] Verdict classify(long status);

// Whether a status that acknowledges nothing may be due to what was posted, so that another message
// could fare better: not the login, the place as such, the load or a gateway. Pure.
[[nodiscard]] bool concerns_content(long status);

// Whether somebody who answers a question (OPTIONS) with this status would take messages: anybody
// but a gateway whose server is away.
[[nodiscard]] bool is_there(long status);

}  // namespace outrider::http
