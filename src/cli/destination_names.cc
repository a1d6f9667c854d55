#include "cli/destination_names.h"

#include <algorithm>

#include "cli/context.h"
#include "cli/table.h"
#include "core/nearest.h"

namespace outrider::cli {
namespace {

std::vector<std::string> stored_names(StoreAdmin& admin) {
    std::vector<std::string> names;
    for (const auto& status : value_of(admin.backlog({})).destinations) {
        names.push_back(status.name);
    }
    return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// "no destination 'ordres' is configured, only orders; did you mean 'orders'?"
[[noreturn]] void refuse(
    const std::string& name,
    const std::string& what,
    const std::vector<std::string>& known
) {
    throw Stop(
        kNothingMatched,
        "no destination '" + name + "' is " + what +
            (known.empty() ? "" : ", only " + joined(known)) + did_you_mean(name, known)
    );
}

}  // namespace

std::vector<std::string> configured_names(const Config& config) {
    std::vector<std::string> names;
    for (const DestinationConfig& one : config.destinations) names.push_back(one.rules.name);
    return names;
}

const DestinationConfig& find_destination(const Config& config, const std::string& name) {
    for (const DestinationConfig& one : config.destinations) {
        if (one.rules.name == name) return one;
    }
    refuse(name, "configured", configured_names(config));
}

void refuse_destination(StoreAdmin& admin, const std::string& name) {
    refuse(name, "known to the store", stored_names(admin));
}

void require_destination(StoreAdmin& admin, const Config& config, const std::string& name) {
    if (contains(configured_names(config), name)) return;
    const std::vector<std::string> known = stored_names(admin);
    if (!contains(known, name)) refuse(name, "known to the store", known);
}

}  // namespace outrider::cli
