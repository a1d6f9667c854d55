#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include "outrider/message.h"

namespace outrider {

// A type of your own that can be enqueued as it is. It becomes one by a single function beside it,
// in its own namespace, that says everything: topic, key, type name, content type and bytes.
//
//     namespace shop {
//     struct OrderPlaced { std::string customer; int order; };
//
//     outrider::Message to_message(const OrderPlaced& event) {
//         return {.topic = "orders", .key = event.customer, .payload = pack(event),
//                 .type = "order.placed.v1", .content_type = "application/x-shop"};
//     }
//     }
//
//     unit.enqueue(shop::OrderPlaced{"ada", 17});
//
// The payload may be any bytes: protobuf, CBOR, a struct. For JSON, json.h has the function ready.
//
// Evolution. A message may be read years after it was written, by a consumer of another version.
// The type names the shape, version included ("order.placed.v1"), and never changes its meaning.
// What old readers can ignore (a new optional field) keeps the version; anything else is a new type
// name ("order.placed.v2"), written beside the old one or instead of it once every reader knows it.
// docs/events.md has the whole recipe.
template <class T>
concept Event = requires(const T& event) {
    { to_message(event) } -> std::same_as<Message>;
};

// A type name taken apart: "order.placed.v2" is version 2 of "order.placed". Without a version at
// the end it is version 1. The name is a view into the text.
struct EventType {
    std::string_view name;
    std::uint32_t version = 1;
    bool operator==(const EventType&) const = default;
};
[[nodiscard]] EventType event_type(std::string_view type);

}  // namespace outrider
