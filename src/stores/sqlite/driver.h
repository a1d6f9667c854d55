#pragma once

#include <memory>
#include <string>

#include "core/clock.h"
#include "core/store.h"

namespace outrider::sqlite {

// The database at this path, with a clock of the caller's choice: what is due is reckoned by it.
[[nodiscard]] std::shared_ptr<StoreDriver> make_driver(
    std::string path,
    std::shared_ptr<Clock> clock
);

}  // namespace outrider::sqlite
