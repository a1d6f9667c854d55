#pragma once

#include <algorithm>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "outrider/table.h"

#include "core/decide.h"
#include "core/store.h"
#include "core/store_admin.h"
#include "stores/table/driver.h"
#include "support/postgres_server.h"

namespace outrider {

// One of the schemas that people have, made from its own documentation, and how to write into it.
struct Schema {
    std::string preset;
    std::string table;       // as SQL reads it
    std::string definition;  // the statements that make it
    std::string insert;      // {id}, {topic}, {key}, {created} and {payload} are filled in
    std::string id;          // the id of row {n}
    std::string pending;     // the condition of a row that was not delivered
    std::string attempts;    // the column, if there is one
    std::string error;       // likewise
    bool has_key = true;
    bool can_bury = false;
};

[[nodiscard]] const std::vector<Schema>& schemas();

// The name of a test for each.
[[nodiscard]] inline std::string preset_of(const ::testing::TestParamInfo<Schema>& info) {
    std::string name = info.param.preset;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

inline void PrintTo(const Schema& schema, std::ostream* out) {
    *out << schema.preset;
}

// The text with every {name} replaced.
[[nodiscard]] std::string fill(std::string text, const std::string& name, const std::string& value);

// One such table, empty.
class Outbox {
public:
    explicit Outbox(const Schema& schema, PostgresServer& server = PostgresServer::shared());
    Outbox(const Schema& schema, const std::string& conninfo);  // in this database

    // Row number n, the n-th in the order of the table, of this key; in a transaction of its own.
    void write(int n, const std::string& key = "", const std::string& topic = "orders.placed");
    void write_in(const PostgresSession& other, int n, const std::string& key) const;

    [[nodiscard]] std::string id(int n) const;
    [[nodiscard]] std::string where(int n) const;  // the condition of that row
    [[nodiscard]] int pending() const;
    [[nodiscard]] std::string value(const std::string& what, int n) const;

    // Of this table; destinations that operators should know.
    [[nodiscard]] std::shared_ptr<table::TableDriver> driver(
        std::vector<Destination> destinations = {}
    ) const;
    [[nodiscard]] std::unique_ptr<Store> open(const Destination& destination) const;
    [[nodiscard]] std::unique_ptr<StoreAdmin> admin(const Destination& destination) const;

    const Schema schema;
    const std::string conninfo;
    table::TableOptions options;
    PostgresSession session;

private:
    [[nodiscard]] std::string insert_of(int n, const std::string& key, const std::string& topic)
        const;
};

// A destination that takes everything and tries again at once.
[[nodiscard]] Destination eager(std::size_t workers = 1);

// The number in a payload {"n": 7}.
[[nodiscard]] int number_in(std::string_view payload);

// The numbers of what a claim got, in its order.
[[nodiscard]] std::vector<int> numbers(const Batch& batch);

// Claims, or throws.
[[nodiscard]] Batch claim(Store& store, std::size_t messages = 100);

// Settles everything as done, or throws.
void finish(Store& store, Batch batch);

}  // namespace outrider
