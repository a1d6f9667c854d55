#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace outrider::nats {

// How JetStream is asked which streams take a subject.
inline constexpr const char* kStreamsQuestion = "STREAM.NAMES";
[[nodiscard]] std::string streams_body(std::string_view subject);

// What it answers: one stream that takes the subject, whether or not that has a leader now; empty:
// none does, says JetStream. An error: it does not say, as when most of its servers are away. Pure.
[[nodiscard]] Result<std::string> read_streams(std::string_view text);

// What it answers when it is asked what an account has ("INFO"): whether there is JetStream. Pure.
inline constexpr const char* kAccountQuestion = "INFO";
[[nodiscard]] Result<void> read_account(std::string_view text);

}  // namespace outrider::nats
