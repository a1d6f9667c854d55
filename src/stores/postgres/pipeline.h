#pragma once

#include <set>
#include <string>
#include <vector>

#include "stores/postgres/connection.h"

namespace outrider::postgres {

// Several statements in one round trip. Statements are prepared on first use and remembered by name
// for the life of the connection, unless a pooler stands in between. One thread at a time.
class Pipeline {
public:
    explicit Pipeline(const Connection& connection) : connection_(connection) {}

    // Adds a statement. `name` must always stand for the same text.
    void add(const std::string& name, const std::string& sql, const Parameters& parameters = {});

    // Sends everything and waits for all results, one per statement added. The first error, if
    // there is one; the server has skipped what came behind it.
    [[nodiscard]] Result<std::vector<Rows>> finish();

private:
    struct Step {
        std::string
            prepares;  // the statement of this name, which nobody waits for; empty: runs one
    };
    [[nodiscard]] bool is_being_prepared(const std::string& name) const;
    bool send(const std::string& name, const std::string& sql, const Parameters& parameters);
    [[nodiscard]] Result<std::vector<Rows>> collect();

    const Connection& connection_;
    std::set<std::string> prepared_;  // also in a transaction that fails later
    std::vector<Step> steps_;
    bool failed_ = false;
};

}  // namespace outrider::postgres
