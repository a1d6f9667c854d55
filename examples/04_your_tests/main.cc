// Testing your own code: a store and a broker in memory, and a broker that fails on purpose.

#include <atomic>
#include <cstdio>

#include <outrider/relay.h>
#include <outrider/testing.h>

namespace testing = outrider::testing;

int main() {
    testing::MemoryStore store;
    const testing::MemoryBroker broker;
    std::atomic<int> tries = 0;

    outrider::Relay relay(store.driver());
    outrider::Destination destination;
    destination.name = "orders";
    destination.retry.delay_first = std::chrono::milliseconds(1);
    relay
        .add(destination, testing::faulty_broker(broker.driver(), [&](const outrider::Delivery& d) {
                 if (d.payload != "first") return testing::Fault::none;
                 return ++tries < 3 ? testing::Fault::refuse : testing::Fault::none;
             }));
    relay.start();

    auto transaction = store.begin();
    for (const char* payload : {"first", "second"}) {
        outrider::Message message;
        message.topic = "orders.placed";
        message.key = "ada";
        message.payload = payload;
        transaction.enqueue(message);
    }
    transaction.commit();

    if (!broker.wait_for(2, std::chrono::seconds(10))) return 1;
    relay.stop();
    std::printf("after %d tries:\n", tries.load());
    for (const testing::Received& message : broker.received()) std::puts(message.payload.c_str());
}
