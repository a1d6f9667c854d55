// What an application with SQLite writes. It links outrider::sqlite and knows nothing else.

#include <cstdio>

#include <outrider/sqlite.h>
#include <outrider/sqlite_unit.h>
#include <sqlite3.h>

int main() {
    sqlite3* shop = nullptr;
    sqlite3_open("shop.db", &shop);
    outrider::sqlite::migrate(shop);
    const bool written = outrider::transactional(shop, [](auto& tx) {
        outrider::Message message;
        message.topic = "orders";
        message.payload = "{}";
        return !tx.enqueue(message).is_nil();
    });
    sqlite3_close(shop);
    std::puts(written ? "enqueued" : "failed");
}
