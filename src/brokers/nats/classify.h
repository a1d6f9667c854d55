#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/verdict.h"

namespace outrider::nats {

// What JetStream's refusal means, by its err_code and, where that is not known, its code (as in
// HTTP). `unanswered`: the server as a whole cannot, and nobody is to be charged. Pure.
[[nodiscard]] Verdict classify(int code, int err_code);

// Reads what came back for one message. Nothing: it is no answer of JetStream's. An
// acknowledgement counts only if it names a stream, the expected one if there is such (empty: any),
// and a sequence; so does the answer "duplicate", which servers have given for messages they did
// not have. Pure.
[[nodiscard]] std::optional<Answer> read_ack(
    std::string_view text,
    std::string_view expected_stream
);

}  // namespace outrider::nats
