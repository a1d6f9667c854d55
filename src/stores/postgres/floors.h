#pragma once

#include "stores/postgres/claim.h"
#include "stores/postgres/connection.h"
#include "stores/postgres/names.h"
#include "stores/postgres/pipeline.h"

namespace outrider::postgres {

// Whether the floor that the next window will get lies so far behind that the window after it would
// look at too much in vain (299 ms against 0.03 ms).
[[nodiscard]] bool is_far_behind(const Window& window);

// Gives lanes of a claim that are far behind a new floor, and commits. True: done, and the claim
// has to be made again. False: none is, and the transaction is still open.
[[nodiscard]] Result<bool> raise_floors(
    const Connection& connection,
    Pipeline& pipeline,
    const Names& names,
    std::int64_t destination,
    const Claim& claim
);

}  // namespace outrider::postgres
