#pragma once

#include "outrider/postgres_store.h"

namespace outrider::postgres {

struct StoreOptions : Options {
    // What is due is reckoned by this expression. For tests, which have a clock of their own.
    std::string now = "clock_timestamp()";
};

}  // namespace outrider::postgres
