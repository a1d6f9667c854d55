#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "outrider/error.h"
#include "outrider/event.h"
#include "outrider/message.h"

// Events as JSON, through nlohmann's library. Optional: only those who include this header need it.
//
//     struct OrderPlaced { std::string customer; int order; };
//     NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OrderPlaced, customer, order)
//
//     outrider::Message to_message(const OrderPlaced& event) {
//         return outrider::json_message("orders", event.customer, "order.placed.v1", event);
//     }
namespace outrider {

// The event as a message with a JSON payload. Throws Failure (correct) if its text is not UTF-8,
// which JSON cannot carry.
template <class T>
[[nodiscard]] Message json_message(
    std::string topic,
    std::string key,
    std::string type,
    const T& event
) {
    Message message;
    message.topic = std::move(topic);
    message.key = std::move(key);
    message.type = std::move(type);
    message.content_type = "application/json";
    try {
        message.payload = nlohmann::json(event).dump();
    } catch (const nlohmann::json::exception& error) {
        throw Failure(
            {Remedy::correct, "event " + message.type + " does not become JSON: " + error.what()}
        );
    }
    return message;
}

// The other way, for handlers and consumers: read_json<OrderPlaced>(delivery.payload). Throws
// Failure (correct) if the bytes are not JSON, or not of this shape; fields that are unknown here
// are ignored, so that a writer may add some.
template <class T>
[[nodiscard]] T read_json(std::string_view payload) {
    try {
        return nlohmann::json::parse(payload).get<T>();
    } catch (const nlohmann::json::exception& error) {
        throw Failure({Remedy::correct, std::string("the payload does not fit: ") + error.what()});
    }
}

}  // namespace outrider
