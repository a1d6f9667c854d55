#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "outrider/destination.h"
#include "outrider/testing.h"

// What the tests of a relay with real threads share.

namespace outrider {

constexpr Duration kPatience = std::chrono::seconds(20);

inline Message message(std::string topic, std::string key, std::string payload) {
    Message message;
    message.topic = std::move(topic);
    message.key = std::move(key);
    message.payload = std::move(payload);
    return message;
}

inline void commit(testing::MemoryStore& store, const std::vector<Message>& messages) {
    auto transaction = store.begin();
    for (const Message& one : messages) transaction.enqueue(one);
    transaction.commit();
}

inline Destination destination(std::string name) {
    Destination destination;
    destination.name = std::move(name);
    destination.retry.delay_first = std::chrono::milliseconds(5);
    destination.outage_delay_first = std::chrono::milliseconds(5);
    destination.outage_delay_max = std::chrono::milliseconds(20);
    return destination;
}

}  // namespace outrider
