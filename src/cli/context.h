#pragma once

#include <memory>
#include <string>

#include "cli/arguments.h"
#include "cli/exit_code.h"
#include "config/config.h"
#include "core/store.h"
#include "core/store_admin.h"

namespace outrider::cli {

// The variables of this process, NAME=value.
[[nodiscard]] std::vector<std::string> environment();

// The configuration with everything that is wrong with it, drivers and paths included.
[[nodiscard]] LoadedConfig read_config(const CommonArguments& common);

// The configuration, or Stop (usage) with all problems.
[[nodiscard]] Config load(const CommonArguments& common);

// The same for verbs that work on the store and on no broker: a destination whose folder is missing
// must not keep an operator from looking.
[[nodiscard]] Config load_for_store(const CommonArguments& common);

// Stop for a store that could not be opened, in words for an operator.
[[noreturn]] void fail_to_open(const Config& config, const Error& error);

// Opens the store for an operator. Stop (cannot connect) if it is not there.
[[nodiscard]] std::unique_ptr<StoreAdmin> open_admin(
    const Config& config,
    StoreDriver::IfMissing if_missing
);

// The same; Stop (failed) if our tables are missing, old, or newer than this build.
[[nodiscard]] std::unique_ptr<StoreAdmin> open_ready_admin(const Config& config);

// Throws Stop unless the tables are those of this build.
void require_schema(const SchemaVersion& version);

// Stop for an operation of the store that failed.
[[noreturn]] void fail(const Error& error);

// The value, or Stop.
template <class T>
[[nodiscard]] T value_of(Result<T> result) {
    if (!result) fail(result.error());
    return std::move(result).value();
}

// Prints a line to standard output.
void print(const std::string& line);

// Asks on the terminal. Stop (usage) if there is none, saying that --yes is needed.
[[nodiscard]] bool confirm(const std::string& question);

}  // namespace outrider::cli
