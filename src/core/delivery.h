#pragma once

#include "outrider/brokers.h"

#include "core/batch.h"

namespace outrider {

// The message as application code sees it. The views still point into the batch.
[[nodiscard]] inline Delivery delivery_of(const Envelope& envelope) {
    Delivery delivery;
    delivery.id = envelope.id;
    delivery.topic = envelope.topic;
    delivery.key = envelope.key;
    delivery.type = envelope.type;
    delivery.content_type = envelope.content_type;
    delivery.payload = envelope.payload;
    for (const HeaderView& header : envelope.headers) {
        delivery.headers.push_back({std::string(header.name), std::string(header.value)});
    }
    delivery.occurred_at = envelope.occurred_at;
    delivery.attempt = envelope.attempts + 1;
    return delivery;
}

}  // namespace outrider
