// An order and its message in one transaction: both or neither.

#include <cstdio>

#include <outrider/error.h>
#include <outrider/sqlite.h>
#include <sqlite3.h>

namespace {

void run(sqlite3* shop, const char* sql) {
    char* error = nullptr;
    if (sqlite3_exec(shop, sql, nullptr, nullptr, &error) != SQLITE_OK) std::puts(error);
    sqlite3_free(error);
}

outrider::Message order_placed(const char* customer, const char* payload) {
    outrider::Message message;
    message.topic = "orders.placed";
    message.key = customer;  // this customer's messages stay in order
    message.payload = payload;
    message.content_type = "application/json";
    return message;
}

int print_count(void* /*unused*/, int /*columns*/, char** values, char** /*names*/) {
    std::printf("%s orders, %s messages\n", values[0], values[1]);
    return 0;
}

}  // namespace

int main() {
    sqlite3* shop = nullptr;
    sqlite3_open("shop.db", &shop);
    sqlite3_busy_timeout(shop, 10'000);  // other writers may be at it
    outrider::sqlite::migrate(shop);
    run(shop, "create table orders (id integer primary key, customer text)");

    run(shop, "begin");
    run(shop, "insert into orders (customer) values ('ada')");
    outrider::sqlite::enqueue(shop, order_placed("ada", R"({"order":1})"));
    run(shop, "commit");

    run(shop, "begin");
    run(shop, "insert into orders (customer) values ('bob')");
    outrider::sqlite::enqueue(shop, order_placed("bob", R"({"order":2})"));
    run(shop, "rollback");  // bob's order never happened, and nobody will hear of it

    try {
        outrider::sqlite::enqueue(shop, order_placed("eve", "{}"));
    } catch (const outrider::Failure& failure) {
        std::printf("refused: %s\n", failure.what());
    }

    sqlite3_exec(
        shop,
        "select (select count(*) from orders), (select count(*) from outrider_message)",
        print_count,
        nullptr,
        nullptr
    );
    sqlite3_close(shop);
}
