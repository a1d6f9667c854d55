#pragma once

#include <string>
#include <string_view>

#include "outrider/message.h"

namespace outrider::cli {

// One message written as a JSON object: topic, payload (text, or any other JSON value, which is
// taken as it is written) or payload_base64, key, type, content_type, headers, id, occurred_at,
// deliver_after. The lines that the file broker writes can be read. Throws Failure (correct) that
// says what is wrong; duplicate and unknown names, and nesting above 64, are refused.
[[nodiscard]] Message message_from_json(std::string_view text, WallTime now);

// The names of such an object: "topic, key, ...".
[[nodiscard]] std::string message_json_names();

}  // namespace outrider::cli
