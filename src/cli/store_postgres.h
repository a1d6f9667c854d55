#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "outrider/message.h"

#include "config/config.h"
#include "core/store.h"

// PostgreSQL, as the table of drivers knows it: postgres://... and postgresql://..., read by libpq
// itself.
namespace outrider::cli {

[[nodiscard]] Problems check_postgres(const Config& config);
[[nodiscard]] std::shared_ptr<StoreDriver> open_postgres(const Config& config);
[[nodiscard]] std::vector<MessageId> enqueue_postgres(
    const Config& config,
    std::span<const Message> messages
);
[[nodiscard]] std::string postgres_schema_text(const Config& config);

}  // namespace outrider::cli
