#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "core/store_admin.h"

// Names of destinations that people type.
namespace outrider::cli {

[[nodiscard]] std::vector<std::string> configured_names(const Config& config);

// Each of these throws Stop (nothing matched) for a name that is not there, with those that are and
// the one that was perhaps meant.

// The destination as it is configured.
[[nodiscard]] const DestinationConfig& find_destination(
    const Config& config,
    const std::string& name
);

// One that the store does not know.
[[noreturn]] void refuse_destination(StoreAdmin& admin, const std::string& name);

// One that neither the store nor the configuration knows; does nothing for others.
void require_destination(StoreAdmin& admin, const Config& config, const std::string& name);

}  // namespace outrider::cli
