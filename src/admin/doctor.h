#pragma once

#include <optional>
#include <vector>

#include "core/broker.h"
#include "core/finding.h"
#include "core/store_admin.h"

namespace outrider::admin {

// What there is to say about how destinations stand. Pure.
[[nodiscard]] std::vector<Finding> judge(const Backlog& backlog);

// The same about what a destination's broker said of itself, or why it did not. Pure.
[[nodiscard]] std::optional<Finding> judge(
    const std::string& destination,
    const Result<BrokerFacts>& facts
);

// Whether a script should be told that something is wrong: any warning or fault.
[[nodiscard]] bool is_healthy(const std::vector<Finding>& findings);

// {"healthy", "findings": [{"gravity", "code", "what", "advice"}]}
[[nodiscard]] std::string doctor_document(const std::vector<Finding>& findings);

}  // namespace outrider::admin
