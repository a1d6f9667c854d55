#pragma once

#include "core/verdict.h"

namespace outrider::http {

// What a receiver's status means for the message. Only 2xx acknowledges. Pure.
[[nodiscard]] Verdict classify(long status);

// Whether a status that acknowledges nothing may be due to what was posted, so that another message
// could fare better: not the login, the place as such, the load or a gateway. Pure.
[[nodiscard]] bool concerns_content(long status);

// Whether this status comes from somebody who could take messages: anybody but a gateway whose
// server is away. Pure.
[[nodiscard]] bool is_there(long status);

// Whether nobody has looked at the message: a gateway has nobody behind it, or the login was not
// let in. If that is all a receiver says, it is an outage. Pure.
[[nodiscard]] bool is_turned_away(long status);

}  // namespace outrider::http
