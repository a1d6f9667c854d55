#pragma once

#include "brokers/mqtt/options.h"
#include "core/verdict.h"

namespace outrider::mqtt {

// What the reason code of a PUBACK, PUBREC or PUBCOMP means for its message. Pure.
[[nodiscard]] Verdict classify(int reason_code, NoSubscribers no_subscribers);

}  // namespace outrider::mqtt
