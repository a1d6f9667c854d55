#pragma once

#include "outrider/message.h"

#include "core/clock.h"

namespace outrider::postgres {

// The id of a message that was written without one: of UUID's version 7, made of the moment that it
// occurred at and of its number in the log. `origin` tells ids of this log from those of another.
// The same as the function id_of of the schema has it.
[[nodiscard]] MessageId id_in_log(std::int64_t origin, std::int64_t seq, WallTime occurred_at);

}  // namespace outrider::postgres
