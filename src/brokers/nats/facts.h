#pragma once

#include <string>
#include <string_view>

namespace outrider::nats {

// What a server is, by what it greets its clients with. Pure.
[[nodiscard]] std::string server_of(std::string_view greeting);

// What an acknowledgement of a stream means, by what JetStream says about it (STREAM.INFO). Pure.
[[nodiscard]] std::string durability_of(std::string_view info, const std::string& stream);

// What can lose messages there that were acknowledged, by the same; empty: nothing is known. Pure.
[[nodiscard]] std::string risk_of(std::string_view info, const std::string& stream);

}  // namespace outrider::nats
