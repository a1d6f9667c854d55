#pragma once

#include <memory>

#include "core/store.h"
#include "stores/postgres/options.h"

namespace outrider::postgres {

// The log behind these options, for a relay.
[[nodiscard]] std::shared_ptr<StoreDriver> make_driver(StoreOptions options);

}  // namespace outrider::postgres
