// A relay inside the service: messages reach a handler and a file right after their commit.

#include <cstdio>
#include <future>
#include <memory>

#include <outrider/brokers.h>
#include <outrider/observer.h>
#include <outrider/relay.h>
#include <outrider/sqlite.h>
#include <outrider/sqlite_store.h>
#include <sqlite3.h>

// A relay has no log of its own: this says why nothing comes, if nothing comes.
class Faults : public outrider::Observer {
    void faulted(
        const outrider::Destination& destination,
        outrider::Stage /*stage*/,
        const outrider::Error& error
    ) override {
        std::fprintf(stderr, "%s: %s\n", destination.name.c_str(), error.text.c_str());
    }
};

int main() {
    sqlite3* shop = nullptr;
    sqlite3_open("shop.db", &shop);
    sqlite3_busy_timeout(shop, 10'000);  // the relay writes, too: wait for it instead of failing
    outrider::sqlite::migrate(shop);

    std::promise<void> mailed;
    outrider::Relay relay(outrider::sqlite::open_store("shop.db"), {}, std::make_shared<Faults>());
    relay.on("orders.*", [&](const outrider::Delivery& order) {
        std::printf(
            "mail to %.*s: %.*s\n",
            static_cast<int>(order.key.size()),
            order.key.data(),
            static_cast<int>(order.payload.size()),
            order.payload.data()
        );
        if (order.payload == "three parcels") mailed.set_value();
    });
    outrider::Destination archive;
    archive.name = "archive";
    relay.add(archive, outrider::file_broker("archive.jsonl"));
    relay.start();

    for (const char* payload : {"one parcel", "two parcels", "three parcels"}) {
        outrider::Message message;
        message.topic = "orders.placed";
        message.key = "ada";
        message.payload = payload;
        sqlite3_exec(shop, "begin immediate", nullptr, nullptr, nullptr);
        outrider::sqlite::enqueue(shop, message);
        sqlite3_exec(shop, "commit", nullptr, nullptr, nullptr);
        relay.wake();
    }
    mailed.get_future().wait();
    relay.stop();
    sqlite3_close(shop);
}
