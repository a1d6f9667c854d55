#include "cli/demo_report.h"

#include <fstream>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "stores/sqlite/connection.h"

namespace outrider::cli {
namespace {

struct Orders {
    std::set<std::string> ids;   // in the table
    std::set<std::string> dead;  // of those
};

Result<std::set<std::string>> read_ids(const sqlite::Connection& connection, std::string_view sql) {
    Result<sqlite::Statement> rows = connection.prepare(sql);
    if (!rows) return rows.error();
    std::set<std::string> ids;
    for (;;) {
        const Result<bool> row = rows->step();
        if (!row) return row.error();
        if (!*row) return ids;
        ids.emplace(rows->text(0));
    }
}

Result<Orders> read_orders(const std::string& path) {
    const auto connection = sqlite::Connection::open(path, sqlite::Connection::Schema::needed);
    if (!connection) return connection.error();
    Result<std::set<std::string>> ids = read_ids(*connection, "select message from shop_order");
    if (!ids) return ids.error();
    Result<std::set<std::string>> dead = read_ids(*connection, "select id from outrider_dead");
    if (!dead) return dead.error();
    return Orders{std::move(ids).value(), std::move(dead).value()};
}

// Walks over the deliveries as a consumer would.
class Consumer {
public:
    explicit Consumer(const Orders& orders) : orders_(orders) {}

    void take(const std::string& line, DemoReport& report) {
        const auto json = nlohmann::json::parse(line);
        const std::string id = json.at("id");
        if (!seen_.insert(id).second) {
            ++report.repeated;
            return;
        }
        if (!orders_.ids.contains(id)) ++report.phantom;
        const auto payload = nlohmann::json::parse(json.at("payload").get<std::string>());
        const auto position = payload.at("position").get<std::uint64_t>();
        std::uint64_t& last = last_[json.at("key")];
        if (position <= last) ++report.out_of_order;
        last = std::max(last, position);
    }

    void finish(DemoReport& report) const {
        report.delivered = seen_.size();
        for (const std::string& id : orders_.ids) {
            const bool is_dead = orders_.dead.contains(id);
            if (is_dead) ++report.dead;
            if (!is_dead && !seen_.contains(id)) ++report.lost;
        }
    }

private:
    const Orders& orders_;
    std::set<std::string> seen_;
    std::map<std::string, std::uint64_t> last_;
};

std::string row(std::string_view name, std::uint64_t value, std::string_view remark = "") {
    std::string number = std::to_string(value);
    std::string line = "  " + std::string(name);
    line.resize(30, ' ');
    number.insert(0, number.size() < 10 ? 10 - number.size() : 0, ' ');
    return line + number + (remark.empty() ? "" : "   " + std::string(remark)) + "\n";
}

}  // namespace

Result<void> compare(
    const std::string& database,
    const std::string& delivered,
    DemoReport& report
) {
    const Result<Orders> orders = read_orders(database);
    if (!orders) return orders.error();
    Consumer consumer(*orders);
    std::ifstream file(delivered);
    for (std::string line; std::getline(file, line);) consumer.take(line, report);
    consumer.finish(report);
    return {};
}

std::string to_text(const DemoReport& report) {
    const std::string bound = "(at most " + std::to_string(report.kills * report.in_flight_max) +
                              " in flight at the kill)";
    return row("orders committed", report.shop.committed) +
           row("orders rolled back", report.shop.rolled_back) +
           row("messages delivered", report.delivered) +
           row("dead letters", report.dead, "the oversized ones, on purpose") +
           row("relays killed (SIGKILL)", report.kills) + "\n" + row("lost", report.lost) +
           row("phantom", report.phantom) + row("duplicated", report.repeated, bound) +
           row("out of order per key", report.out_of_order);
}

std::string to_json(const DemoReport& report) {
    const nlohmann::ordered_json json = {
        {"committed", report.shop.committed},
        {"rolled_back", report.shop.rolled_back},
        {"delivered", report.delivered},
        {"dead", report.dead},
        {"kills", report.kills},
        {"lost", report.lost},
        {"phantom", report.phantom},
        {"duplicated", report.repeated},
        {"duplicated_allowed", report.kills * report.in_flight_max},
        {"out_of_order", report.out_of_order},
        {"good", report.is_good()},
    };
    return json.dump(2) + "\n";
}

}  // namespace outrider::cli
