#pragma once

#include <functional>
#include <span>
#include <string>

#include "core/batch.h"
#include "core/result.h"

namespace outrider {

// Writes all bytes to a descriptor, waiting where it must.
[[nodiscard]] Result<void> write_all(int descriptor, std::string_view bytes);

// Writes the messages as JSON, one per line, in pieces of whole lines and bounded memory.
using WritePiece = std::function<Result<void>(std::string_view piece)>;
[[nodiscard]] Result<void> write_lines(
    std::span<const Envelope> envelopes,
    const WritePiece& write
);

// "cannot WHAT: REASON", with the reason of errno.
[[nodiscard]] Error system_error(std::string_view what, int number);

}  // namespace outrider
