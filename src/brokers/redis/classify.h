#pragma once

#include <string_view>

#include "core/verdict.h"

namespace outrider::redis {

// What an error reply means. `unanswered`: the server as a whole is out, or not the one it was, and
// nobody is to be charged. `refused`: this stream, now. `unacceptable`: this message is larger than
// the server takes. Pure.
[[nodiscard]] Verdict classify(std::string_view error);

}  // namespace outrider::redis
