#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/node.h"
#include "config/rows.h"

namespace outrider {

// Fills a Config from one source after the other; later ones win. Collects every problem instead of
// stopping at the first.
class Loader {
public:
    void read_file(const std::string& path);
    void read_environment(const std::vector<std::string>& environment);
    void read_flags(const std::vector<ConfigFlag>& flags);

    // Destinations that flags name exist before variables are read, so that these may speak of
    // them.
    void expect_flags(const std::vector<ConfigFlag>& flags);

    // Checks what only the whole can show.
    [[nodiscard]] LoadedConfig finish() &&;

private:
    struct Variable {
        std::string name;
        std::string value;
    };

    void read_table(const Node& table, const std::string& prefix);
    void read_destinations(const Node& list);
    void read_destination(const Node& table);
    void read_destination_table(
        const Node& table,
        const std::string& prefix,
        DestinationConfig& destination
    );
    void read_variable(const Variable& variable);
    void read_destination_variable(const Variable& variable, const Node& value);
    void read_database_url(const std::string& value);
    void read_flag(const ConfigFlag& flag);

    void set(const GlobalRow& row, const Node& value);
    void set(const DestinationRow& row, DestinationConfig& destination, const Node& value);
    void check(DestinationConfig& destination);

    // The destination of this name, made if there is none.
    DestinationConfig& destination(std::string_view name, const Origin& origin);
    DestinationConfig* find_destination(std::string_view name);

    // "orders.retry.jitter" to the name, which may contain dots, and the row. No row: unknown.
    struct Target {
        std::string name;
        std::string key;
        const DestinationRow* row = nullptr;
    };
    [[nodiscard]] Target split_key(std::string_view key) const;
    [[nodiscard]] std::vector<std::string> destination_names() const;
    [[nodiscard]] std::vector<std::string> variable_names() const;

    void report(Origin origin, std::string text, std::string nearest = {});

    // The same for what could not be read or is not known: it may be what is missing elsewhere.
    void report_unknown(Problem problem);

    Config config_;
    Problems problems_;
    bool is_whole_ = true;
};

}  // namespace outrider
