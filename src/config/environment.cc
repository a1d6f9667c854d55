// The part of the loader that reads environment variables.

#include <algorithm>

#include "config/loader.h"
#include "core/nearest.h"
#include "core/text.h"

namespace outrider {
namespace {

constexpr std::string_view kPrefix = "OUTRIDER_";
constexpr std::string_view kDestinationPrefix = "OUTRIDER_DESTINATION_";

// So many wrong letters are still a slip.
constexpr std::size_t kSlipMax = 3;

bool names_a_table(std::string_view variable) {
    return variable.starts_with("OUTRIDER_STORE_") || variable.starts_with("OUTRIDER_RELAY_") ||
           variable.starts_with("OUTRIDER_LOG_");
}

// Kubernetes tells every container of the services around it, so one that is named outrider-relay
// looks like settings of ours: ..._SERVICE_HOST, ..._PORT=tcp://..., ..._PORT_80_TCP_ADDR.
bool is_of_kubernetes(std::string_view variable) {
    const std::size_t port = variable.find("_PORT_");
    const bool has_number = port != std::string_view::npos && port + 6 < variable.size() &&
                            variable[port + 6] >= '0' && variable[port + 6] <= '9';
    return has_number || variable.ends_with("_PORT") || variable.ends_with("_SERVICE_HOST") ||
           variable.find("_SERVICE_PORT") != std::string_view::npos;
}

std::string variable_of(std::string_view row) {
    return std::string(kPrefix) + environment_name(row);
}

std::string variable_of(std::string_view destination, std::string_view row) {
    return std::string(kDestinationPrefix) + environment_name(destination) + "_" +
           environment_name(row);
}

Origin variable_origin(const std::string& name) {
    return {"environment variable " + name};
}

// The row whose variable name the text ends with, the longest there is.
const DestinationRow* row_at_end(std::string_view variable) {
    const DestinationRow* best = nullptr;
    for (const DestinationRow& row : destination_rows()) {
        const std::string tail = "_" + environment_name(row.option.name);
        const bool fits = variable.size() > tail.size() && variable.ends_with(tail);
        if (!fits || row.option.name == "name") continue;
        if (best == nullptr || row.option.name.size() > best->option.name.size()) best = &row;
    }
    return best;
}

}  // namespace

void Loader::read_environment(const std::vector<std::string>& environment) {
    std::string database_url;
    for (const std::string& entry : environment) {
        const std::size_t equals = std::min(entry.find('='), entry.size());
        const std::string name = entry.substr(0, equals);
        const std::string value = entry.substr(std::min(equals + 1, entry.size()));
        if (name == "DATABASE_URL") database_url = value;
        if (name.starts_with(kPrefix) && name != "OUTRIDER_CONFIG") read_variable({name, value});
    }
    read_database_url(database_url);
}

// Many platforms set it. Whatever is ours goes before it; flags come later and win anyway.
void Loader::read_database_url(const std::string& value) {
    if (value.empty() || !config_.store.empty()) return;
    config_.store = SecretUrl(value);
    config_.origins["store.url"] = variable_origin("DATABASE_URL");
}

void Loader::read_variable(const Variable& variable) {
    Node value;
    value.text = variable.value;
    value.origin = variable_origin(variable.name);
    for (const GlobalRow& row : global_rows()) {
        if (variable.name == variable_of(row.option.name)) return set(row, value);
    }
    if (is_of_kubernetes(variable.name)) return;
    if (variable.name.starts_with(kDestinationPrefix)) {
        return read_destination_variable(variable, value);
    }
    // Other programs may use our prefix, say to find the binary; a slip in one of our names is an
    // error all the same.
    const std::string meant = nearest(variable.name, variable_names());
    if (edit_distance(variable.name, meant) > kSlipMax && !names_a_table(variable.name)) return;
    report_unknown({value.origin, "names nothing that is known", meant});
}

void Loader::read_destination_variable(const Variable& variable, const Node& value) {
    std::vector<std::pair<DestinationConfig*, const DestinationRow*>> targets;
    for (DestinationConfig& one : config_.destinations) {
        for (const DestinationRow& row : destination_rows()) {
            if (row.option.name == "name") continue;
            if (variable.name == variable_of(one.rules.name, row.option.name)) {
                targets.emplace_back(&one, &row);
            }
        }
    }
    if (targets.size() > 1) {
        const std::string first = targets[0].first->rules.name;
        const std::string second = targets[1].first->rules.name;
        return report(
            value.origin,
            "fits two destinations, '" + first + "' and '" + second +
                "': set the value in the file or with --set"
        );
    }
    if (targets.size() == 1) return set(*targets[0].second, *targets[0].first, value);
    const DestinationRow* row = row_at_end(variable.name);
    if (row == nullptr) {
        return report(
            value.origin, "names nothing that is known", nearest(variable.name, variable_names())
        );
    }
    const std::size_t tail = row->option.name.size() + 1;
    const std::size_t length = variable.name.size() - kDestinationPrefix.size();
    if (length <= tail) return report(value.origin, "lacks the name of a destination");
    const std::string name = variable.name.substr(kDestinationPrefix.size(), length - tail);
    set(*row, destination(lower(name), value.origin), value);
}

std::vector<std::string> Loader::variable_names() const {
    std::vector<std::string> names = {"OUTRIDER_CONFIG"};
    for (const GlobalRow& row : global_rows()) names.push_back(variable_of(row.option.name));
    for (const DestinationConfig& one : config_.destinations) {
        for (const DestinationRow& row : destination_rows()) {
            if (row.option.name == "name") continue;
            names.push_back(variable_of(one.rules.name, row.option.name));
        }
    }
    return names;
}

}  // namespace outrider
