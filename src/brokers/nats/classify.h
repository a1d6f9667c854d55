#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/verdict.h"

namespace outrider::nats {

// What JetStream's refusal means, by its err_code and, where that is not known, its code (as in
// HTTP). `unanswered`: the server as a whole cannot, and nobody is to be charged. Pure.
[[nodiscard]] Verdict classify(int code, int err_code);

// What came back for one message.
struct Ack {
    Answer answer;
    std::string stream;
    std::uint64_t sequence = 0;

    // Acknowledged, but not stored by this publish: the stream remembers the id of the message that
    // it gave the sequence to. It remembers longer than it keeps (purge, limits, consumers), and
    // servers have said so of messages they never had. So this alone is no acknowledgement.
    bool is_duplicate = false;
};

// Reads what came back for one message. Nothing: it is no answer of JetStream's. An
// acknowledgement counts only if it names a stream, the expected one if there is such (empty: any),
// and a sequence. Pure.
[[nodiscard]] std::optional<Ack> read_ack(std::string_view text, std::string_view expected_stream);

}  // namespace outrider::nats
