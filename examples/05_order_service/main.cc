// An order service on PostgreSQL: entities record events, a unit of work writes rows and messages
// together, and a conflict is run again.

#include <cstdio>
#include <string>

#include <outrider/json.h>
#include <outrider/pqxx.h>

namespace shop {

struct OrderPlaced {
    int order = 0;
    std::string customer;
    int cents = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OrderPlaced, order, customer, cents)

// All that Outrider has to know about the event: where it goes, what orders it, what it is called.
outrider::Message to_message(const OrderPlaced& event) {
    return outrider::json_message("orders", event.customer, "order.placed.v1", event);
}

struct OrderPaid {
    int order = 0;
    std::string customer;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OrderPaid, order, customer)

outrider::Message to_message(const OrderPaid& event) {
    return outrider::json_message("orders", event.customer, "order.paid.v1", event);
}

// An entity that says what happens to it.
class Order : public outrider::DomainEvents {
public:
    Order(int id, std::string customer, int cents)
        : id_(id),
          customer_(std::move(customer)),
          cents_(cents) {
        record(OrderPlaced{id_, customer_, cents_});
    }
    void pay() { record(OrderPaid{id_, customer_}); }

    void insert_into(pqxx::transaction_base& tx) const {
        tx.exec_params("insert into orders values ($1, $2, $3)", id_, customer_, cents_);
    }
    void charge(pqxx::transaction_base& tx) const {
        tx.exec_params(
            "update account set cents = cents - $2 where customer = $1", customer_, cents_
        );
    }

private:
    int id_;
    std::string customer_;
    int cents_;
};

// Row, charge and both events, or none of them. If another transaction was in the way, the whole of
// it runs again.
void buy(pqxx::connection& database, int id, const std::string& customer, int cents) {
    outrider::transactional(database, [&](auto& tx) {
        Order order(id, customer, cents);
        tx.track(order);
        order.insert_into(*tx);
        order.charge(*tx);
        order.pay();
    });
}

}  // namespace shop

int main() {
    pqxx::connection database;  // the PG... variables of the environment say where
    shop::buy(database, 1, "ada", 500);
    try {
        shop::buy(database, 2, "bob", 900);
    } catch (const pqxx::sql_error&) {
        std::puts("order 2: bob cannot pay, so it never happened");
    }
    shop::buy(database, 3, "ada", 300);

    auto unit = outrider::begin(database);  // the same by hand
    shop::Order order(4, "ada", 100);
    unit.track(order);
    order.insert_into(*unit);
    unit.commit();

    pqxx::work look(database);
    std::printf("%d orders committed\n", look.exec1("select count(*) from orders")[0].as<int>());
}
