#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "outrider/message.h"

#include "config/config.h"
#include "core/broker.h"
#include "core/store.h"

// The drivers of this build, chosen by the scheme of a URL. The only place that names them.
namespace outrider::cli {

// What is wrong with the URL of the store, or of any broker: no driver, no folder, no permission. A
// server that is away is not wrong: it will come back.
[[nodiscard]] Problems check_store(const Config& config);
[[nodiscard]] Problems check_brokers(const Config& config);

// Throw Stop where the checks would have reported a problem.
[[nodiscard]] std::shared_ptr<StoreDriver> open_store(const Config& config);
[[nodiscard]] std::shared_ptr<BrokerDriver> open_broker(const DestinationConfig& destination);

// Whether such a URL is that of a server, which can be asked without leaving anything behind.
[[nodiscard]] bool is_server(const SecretUrl& broker);

// Writes all messages in one transaction of their own. Throws Stop, or Failure, having written
// nothing.
[[nodiscard]] std::vector<MessageId> enqueue_all(
    const Config& config,
    std::span<const Message> messages
);

// The statements that make our tables, for a DBA. Needs no database.
[[nodiscard]] std::string schema_text(const Config& config);

[[nodiscard]] std::vector<std::string> store_schemes();
[[nodiscard]] std::vector<std::string> broker_schemes();

}  // namespace outrider::cli
