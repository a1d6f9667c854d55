#pragma once

#include <span>
#include <string>

#include "core/batch.h"
#include "core/result.h"

namespace outrider {

// Writes all bytes to a descriptor, waiting where it must.
[[nodiscard]] Result<void> write_all(int descriptor, std::string_view bytes);

// Writes the messages as JSON, one per line, in pieces of whole lines and bounded memory.
[[nodiscard]] Result<void> write_lines(int descriptor, std::span<const Envelope> envelopes);

// "cannot WHAT: REASON", with the reason of errno.
[[nodiscard]] Error system_error(std::string_view what, int number);

}  // namespace outrider
