#pragma once

#include <vector>

#include "core/store_admin.h"

namespace outrider::admin {

// Adds destinations that are configured but that no relay has introduced to the store yet, so that
// an operator sees what waits for them before the first relay runs. What waits is known for topics
// that no other destination takes; these are then no longer unrouted.
void add_expected(Backlog& backlog, const std::vector<Destination>& configured);

}  // namespace outrider::admin
