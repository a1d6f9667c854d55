#include "cli/demo_shop.h"

#include <condition_variable>
#include <map>

#include "outrider/error.h"
#include "outrider/sqlite.h"

#include "core/dice.h"
#include "stores/sqlite/connection.h"

namespace outrider::cli {
namespace {

constexpr std::uint64_t kClerks = 2;
constexpr std::uint64_t kCustomersEach = 10;
constexpr double kRollbackChance = 0.1;
constexpr std::uint64_t kOversizedEvery = 1500;
constexpr auto kPause = std::chrono::milliseconds(2);

template <class T>
T or_throw(Result<T> result) {
    if (!result) throw Failure(result.error());
    return std::move(result).value();
}

void or_throw(const Result<void>& result) {
    if (!result) throw Failure(result.error());
}

// One customer's order: the row and the message say the same.
struct Order {
    std::string customer;
    std::uint64_t position =
        0;  // of this customer's orders, from 1, without gaps among the committed
    bool oversized = false;
};

Message message_of(const Order& order, bool rolled_back) {
    Message message;
    message.topic = "orders.placed";
    message.key = order.customer;
    message.type = "order.placed";
    message.content_type = "application/json";
    message.payload = R"({"customer":")" + order.customer + R"(","position":)" +
                      std::to_string(order.position) +
                      (rolled_back ? R"(,"rolled_back":true})" : "}");
    if (order.oversized) message.payload.resize(DemoShop::kPayloadBytesMax + 1, ' ');
    return message;
}

class Clerk {
public:
    Clerk(const std::string& path, std::uint64_t number)
        : connection_(or_throw(sqlite::Connection::open(path, sqlite::Connection::Schema::needed))),
          insert_(or_throw(connection_.prepare(
              "insert into shop_order (message, customer, position) values (?1, ?2, ?3)"
          ))),
          number_(number),
          dice_(number) {}

    enum class Deed : std::uint8_t { committed, rolled_back, oversized };

    Deed serve_one() {
        Order order;
        order.customer =
            "customer-" + std::to_string(number_ * kCustomersEach + dice_.pick(kCustomersEach) + 1);
        order.position = positions_[order.customer] + 1;
        order.oversized = ++served_ % kOversizedEvery == 0;
        const bool rolls_back = !order.oversized && dice_.chance(kRollbackChance);
        write(order, rolls_back);
        if (rolls_back) return Deed::rolled_back;
        ++positions_[order.customer];
        return order.oversized ? Deed::oversized : Deed::committed;
    }

private:
    // The order and its message, in one transaction: the point of it all.
    void write(const Order& order, bool rolls_back) {
        auto transaction = or_throw(sqlite::Transaction::begin(connection_, "begin immediate"));
        const MessageId id = sqlite::enqueue(connection_.get(), message_of(order, rolls_back));
        const std::string id_text = id.to_string();
        insert_.bind(1, id_text).bind(2, order.customer);
        insert_.bind(3, static_cast<std::int64_t>(order.position));
        static_cast<void>(or_throw(insert_.run()));
        if (!rolls_back) or_throw(transaction.commit());
    }

    sqlite::Connection connection_;
    sqlite::Statement insert_;
    const std::uint64_t number_;
    SeededDice dice_;
    std::uint64_t served_ = 0;
    std::map<std::string, std::uint64_t> positions_;
};

}  // namespace

void DemoShop::open() {
    const auto connection =
        or_throw(sqlite::Connection::open(path_, sqlite::Connection::Schema::needed));
    or_throw(connection.run(
        "create table shop_order (message text primary key, customer text, position integer)"
    ));
}

void DemoShop::start() {
    for (std::uint64_t clerk = 0; clerk < kClerks; ++clerk) {
        clerks_.emplace_back([this, clerk](const std::stop_token& stop) { work(clerk, stop); });
    }
}

void DemoShop::stop() {
    for (std::jthread& clerk : clerks_) clerk.request_stop();
    clerks_.clear();
}

ShopTotals DemoShop::totals() const {
    return {committed_, rolled_back_, oversized_};
}

void DemoShop::work(std::uint64_t number, const std::stop_token& stop) {
    Clerk clerk(path_, number);
    std::mutex mutex;
    std::condition_variable_any customers;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
        switch (clerk.serve_one()) {
            case Clerk::Deed::committed:
                ++committed_;
                break;
            case Clerk::Deed::rolled_back:
                ++rolled_back_;
                break;
            case Clerk::Deed::oversized:
                ++committed_;
                ++oversized_;
                break;
        }
        // Customers come one after the other, until the shop closes.
        customers.wait_for(lock, stop, kPause, [] { return false; });
    }
}

}  // namespace outrider::cli
