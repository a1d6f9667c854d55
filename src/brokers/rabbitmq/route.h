#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "brokers/rabbitmq/options.h"
#include "brokers/wire/target.h"

namespace outrider::rabbitmq {

// Exchange and routing key of a message, out of `exchange` and `target`. A value that keeps the
// texts of the last message.
class Route {
public:
    [[nodiscard]] static Result<Route> parse(const RabbitmqOptions& options);

    // Fills in both for a message. What is wrong with them; empty: nothing.
    [[nodiscard]] std::string_view fill_in(const Envelope& envelope);

    [[nodiscard]] const std::string& exchange() const { return exchange_; }
    [[nodiscard]] const std::string& routing_key() const { return routing_key_; }

private:
    std::optional<wire::Target> exchange_target_;  // empty: the default exchange
    std::optional<wire::Target> key_target_;
    std::string exchange_;
    std::string routing_key_;
};

}  // namespace outrider::rabbitmq
