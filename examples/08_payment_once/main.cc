// A payment is applied once, although its message arrives five times.

#include <cstdio>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>

#include <outrider/brokers.h>
#include <outrider/relay.h>
#include <outrider/sqlite.h>
#include <outrider/sqlite_inbox.h>
#include <outrider/sqlite_store.h>
#include <sqlite3.h>

namespace {

using Database = std::unique_ptr<sqlite3, decltype(&sqlite3_close)>;

Database open(const char* path) {
    sqlite3* database = nullptr;
    sqlite3_open(path, &database);
    sqlite3_busy_timeout(database, 10'000);
    outrider::sqlite::migrate(database);
    return {database, sqlite3_close};
}

void run(const Database& database, const std::string& sql) {
    if (sqlite3_exec(database.get(), sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return;
    throw std::runtime_error(sqlite3_errmsg(database.get()));
}

int count(const Database& database, const char* sql) {
    int result = 0;
    const auto take = [](void* to, int, char** columns, char**) {
        *static_cast<int*>(to) = std::stoi(columns[0]);
        return 0;
    };
    sqlite3_exec(database.get(), sql, take, &result, nullptr);
    return result;
}

}  // namespace

int main() {
    // The shop writes an order and its payment in one transaction.
    const Database shop = open("shop.db");
    run(shop, "begin immediate");
    outrider::sqlite::enqueue(shop.get(), {.topic = "payments", .key = "ada", .payload = "30"});
    run(shop, "commit");

    // The bank has a database of its own, with an inbox and an outbox of its own.
    const Database bank = open("bank.db");
    run(bank, "create table account (owner text, balance integer)");
    run(bank, "insert into account values ('ada', 100)");
    const outrider::sqlite::Inbox inbox;

    int arrivals = 0;
    std::promise<void> over;
    const auto pay = [&](const outrider::Delivery& payment) {
        run(bank, "begin immediate");
        const bool applied{inbox.once(bank.get(), "bank", payment.id, [&] {
            run(bank, "update account set balance = balance - " + std::string(payment.payload));
            outrider::sqlite::enqueue(bank.get(), {.topic = "receipts", .payload = "paid"});
        })};
        run(bank, "commit");
        std::printf(
            "arrival %d: %s\n", ++arrivals, applied ? "applied" : "a repeat, nothing to do"
        );
        // The bank has committed, but nobody hears of it: the worst moment to be cut off.
        if (arrivals < 5) throw std::runtime_error("the acknowledgement was lost");
        over.set_value();
    };

    outrider::Destination destination;
    destination.name = "bank";
    destination.topics = {"payments"};
    destination.retry.delay_first = std::chrono::milliseconds(1);
    outrider::Relay relay(outrider::sqlite::open_store("shop.db"));
    relay.add(destination, outrider::handler_broker(pay));
    relay.start();
    over.get_future().wait();
    relay.stop();

    std::printf("balance: %d\n", count(bank, "select balance from account"));
    std::printf("receipts to send: %d\n", count(bank, "select count(*) from outrider_message"));
}
