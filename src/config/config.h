#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "outrider/destination.h"
#include "outrider/postgres_store.h"
#include "outrider/relay.h"
#include "outrider/table.h"

#include "config/problem.h"
#include "config/secret_url.h"
#include "core/format.h"

namespace outrider {

enum class LogLevel : std::uint8_t { debug, info, warning, error };
enum class LogFormat : std::uint8_t { logfmt, json };

// What a store keeps messages in.
enum class StoreLayout : std::uint8_t {
    log,    // our own tables
    table,  // an outbox table that the application has
};

struct LogOptions {
    LogLevel level = LogLevel::info;
    LogFormat format = LogFormat::logfmt;
};

// A destination, and where its broker is.
struct DestinationConfig {
    Destination rules;
    SecretUrl broker;

    // The form of its messages, for brokers behind a network. Empty: the broker's own default.
    std::string target;
    Format format = Format::plain;
    std::string source;

    Origin origin;         // of the destination
    Origin broker_origin;  // of its broker's URL
};

// Everything that can be configured, with its defaults.
struct Config {
    SecretUrl store;
    postgres::Options postgres;  // of a PostgreSQL store; its conninfo is `store`
    StoreLayout layout = StoreLayout::log;
    table::TableOptions table;  // of an application's own table
    RelayOptions relay;

    // How long an orderly stop of `outrider relay` may take before the process ends itself.
    Duration stop_deadline = std::chrono::seconds(30);

    LogOptions log;
    std::vector<DestinationConfig> destinations;

    // Where each key was set, but for those of destinations: "store.url".
    std::map<std::string, Origin, std::less<>> origins;
};

// Where the first of these keys was set that was set at all; if none was, the name of the first.
[[nodiscard]] Origin origin_of(const Config& config, std::initializer_list<std::string_view> keys);

// A value given on the command line: "relay.retention" = "1d", by "--set relay.retention".
struct ConfigFlag {
    std::string key;
    std::string value;
    Origin origin;
};

// Where to look, weakest first.
struct ConfigSources {
    std::string file;                      // empty: none
    std::vector<std::string> environment;  // NAME=value; what does not begin with OUTRIDER_ is
                                           // ignored, but for DATABASE_URL
    std::vector<ConfigFlag> flags;
};

struct LoadedConfig {
    Config config;
    Problems problems;  // all of them, file first; empty: the config makes sense

    // False: some of it could not be read, or names nothing that is known. What seems to be missing
    // may be there.
    bool is_whole = true;
};

// Reads all sources. Knows no driver: whether a URL can be served is for those who have drivers.
[[nodiscard]] LoadedConfig load_config(const ConfigSources& sources);

// The file to read: the one named by the flag, else by OUTRIDER_CONFIG, else ./outrider.toml if
// there is one, else none.
[[nodiscard]] std::string choose_config_file(
    const std::string& flag,
    const std::vector<std::string>& environment
);

}  // namespace outrider
