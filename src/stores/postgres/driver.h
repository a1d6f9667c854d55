#pragma once

#include <memory>

#include "core/store.h"
#include "stores/postgres/options.h"

namespace outrider::postgres {

// As open_store(), with a clock of the caller's.
[[nodiscard]] std::shared_ptr<StoreDriver> make_driver(StoreOptions options);

}  // namespace outrider::postgres
