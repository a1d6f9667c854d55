#pragma once

#include <functional>
#include <memory>

#include "cli/log.h"
#include "cli/signals.h"
#include "config/config.h"
#include "core/store_admin.h"

namespace outrider::cli {

// What a relay says of its store, at its start and later.
constexpr const char* kStoreIsAway = "the store is away: waiting for it";
constexpr const char* kStoreIsBack = "the store is back";

// Opens the store of a relay that starts, by `open`. A store that is away is waited for, as it is
// later on: the log and the service manager hear of it once, and the log of its return. Nothing if
// a signal came meanwhile; Stop for what time does not mend, such as a password that is refused.
using OpenStore = std::function<Result<std::unique_ptr<StoreAdmin>>()>;
[[nodiscard]] std::unique_ptr<StoreAdmin> wait_for_store(
    const Config& config,
    const OpenStore& open,
    const StopSignals& signals,
    Log& log
);

}  // namespace outrider::cli
