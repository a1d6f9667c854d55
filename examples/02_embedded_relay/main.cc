// A relay inside the service: messages reach a handler and a file right after their commit.

#include <cstdio>
#include <future>

#include <outrider/brokers.h>
#include <outrider/relay.h>
#include <outrider/sqlite.h>
#include <outrider/sqlite_store.h>
#include <sqlite3.h>

int main() {
    sqlite3* shop = nullptr;
    sqlite3_open("shop.db", &shop);
    sqlite3_busy_timeout(shop, 10'000);  // the relay writes, too: wait for it instead of failing
    outrider::sqlite::migrate(shop);

    std::promise<void> mailed;
    outrider::Relay relay(outrider::sqlite::open_store("shop.db"));
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
