#include "cli/drivers.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "outrider/brokers.h"
#include "outrider/sqlite.h"
#include "outrider/sqlite_store.h"

#include "cli/exit_code.h"
#include "cli/paths.h"
#include "cli/table_origin.h"
#ifdef OUTRIDER_HTTP
#include "brokers/http/broker.h"
#endif
#ifdef OUTRIDER_KAFKA
#include "brokers/kafka/broker.h"
#endif
#ifdef OUTRIDER_MQTT
#include "brokers/mqtt/broker.h"
#endif
#ifdef OUTRIDER_NATS
#include "brokers/nats/broker.h"
#endif
#ifdef OUTRIDER_RABBITMQ
#include "brokers/rabbitmq/broker.h"
#endif
#ifdef OUTRIDER_REDIS
#include "brokers/redis/broker.h"
#endif
#ifdef OUTRIDER_POSTGRES
#include "cli/store_postgres.h"
#endif
#include "core/nearest.h"
#include "stores/sqlite/connection.h"
#include "stores/sqlite/migrate.h"

namespace outrider::cli {
namespace {

struct StoreEntry {
    std::string_view scheme;
    std::string_view other_scheme;  // may be empty
    Problems (*check)(const Config&);
    std::shared_ptr<StoreDriver> (*open)(const Config&);
    std::vector<MessageId> (*enqueue)(const Config&, std::span<const Message>);
    std::string (*schema_text)(const Config&);
};

struct BrokerEntry {
    std::string_view scheme;
    std::string_view other_scheme;  // may be empty
    Result<void> (*check)(const DestinationConfig&);
    std::shared_ptr<BrokerDriver> (*open)(const DestinationConfig&);
    bool is_server = false;
};

std::string path_or_stop(const SecretUrl& url) {
    Result<std::string> path = path_of(url);
    if (!path) throw Stop(kUsage, path.error().text);
    return std::move(path).value();
}

// SQLite: also the WAL and the lock are files beside the database.

Problems check_sqlite(const Config& config) {
    const Origin url = origin_of(config, {"store.url"});
    const Result<std::string> path = path_of(config.store);
    if (!path) return {{url, path.error().text, {}}};
    const bool has_table = config.table != table::TableOptions{};
    const bool has_log =
        config.layout != StoreLayout::log || config.postgres != postgres::Options{};
    if (has_table || has_log) {
        const Origin log = origin_of(
            config, {"store.schema", "store.settle", "store.wake", "store.lanes", "store.layout"}
        );
        return {
            {has_log ? log : table_origin(config),
             "store.schema, store.settle, store.wake, store.lanes, store.layout and [store.table] "
             "are for PostgreSQL: remove them, or give a postgres: URL",
             {}}};
    }
    const Result<void> file = check_file(*path);
    return file ? Problems() : Problems{{url, file.error().text, {}}};
}

std::shared_ptr<StoreDriver> open_sqlite(const Config& config) {
    return sqlite::open_store(path_or_stop(config.store));
}

std::string sqlite_schema_text(const Config& /*config*/) {
    return sqlite::schema_text();
}

std::vector<MessageId> enqueue_sqlite(const Config& config, std::span<const Message> messages) {
    const std::string path = path_or_stop(config.store);
    const auto connection = sqlite::Connection::open(path, sqlite::Connection::Schema::needed);
    if (!connection) {
        const bool is_open = connection.error().native_code == 0;
        throw Stop(is_open ? kFailed : kCannotConnect, connection.error().text);
    }
    Result<sqlite::Transaction> transaction =
        sqlite::Transaction::begin(*connection, "begin immediate");
    if (!transaction) throw Failure(transaction.error());
    std::vector<MessageId> ids = sqlite::enqueue(connection->get(), messages);
    if (Result<void> committed = transaction->commit(); !committed) {
        throw Failure(committed.error());
    }
    return ids;
}

// Files, standard output and nowhere: they write messages in a form of their own.

Result<void> check_form(const DestinationConfig& one) {
    if (one.target.empty() && one.source.empty() && one.format == Format::plain) return {};
    return Error{
        Remedy::correct,
        one.broker.scheme() + ": has a form of its own: it takes no target, format or source"};
}

Result<void> check_file_broker(const DestinationConfig& one) {
    if (Result<void> good = check_form(one); !good) return good;
    const Result<std::string> path = path_of(one.broker);
    if (!path) return path.error();
    return check_file(*path);
}

std::shared_ptr<BrokerDriver> open_file(const DestinationConfig& one) {
    return file_broker(path_or_stop(one.broker));
}

Result<void> check_nothing_behind(const DestinationConfig& one) {
    if (one.broker.rest().empty()) return check_form(one);
    const std::string scheme = one.broker.scheme();
    return Error{Remedy::correct, scheme + ": has no path: write " + scheme + ":"};
}

std::shared_ptr<BrokerDriver> open_stdout(const DestinationConfig& /*one*/) {
    return stdout_broker();
}

std::shared_ptr<BrokerDriver> open_null(const DestinationConfig& /*one*/) {
    return null_broker();
}

// Brokers behind a network: the room reads its own URL, in which all of its options stand but those
// that every room has, which are keys of the destination.

template <class Options>
Result<Options> options_of(
    Result<Options> (*parse)(std::string_view, Options),
    const DestinationConfig& one
) {
    Options options;
    if (!one.target.empty()) options.wire.target = one.target;
    if (!one.source.empty()) options.wire.source = one.source;
    options.wire.format = one.format;
    options.wire.are_in_url = false;
    return parse(one.broker.reveal(), std::move(options));
}

template <auto parse>
Result<void> check_network(const DestinationConfig& one) {
    const auto options = options_of(parse, one);
    if (!options) return options.error();
    return {};
}

template <auto parse, auto make>
std::shared_ptr<BrokerDriver> open_network(const DestinationConfig& one) {
    const auto options = options_of(parse, one);
    if (!options) throw Stop(kUsage, options.error().text);
    return make(*options);
}

template <auto parse, auto make>
constexpr BrokerEntry network_entry(std::string_view scheme, std::string_view with_tls = {}) {
    return {scheme, with_tls, check_network<parse>, open_network<parse, make>, true};
}

constexpr StoreEntry kStores[] = {
    {"sqlite", "", check_sqlite, open_sqlite, enqueue_sqlite, sqlite_schema_text},
#ifdef OUTRIDER_POSTGRES
    {"postgres",
     "postgresql",
     check_postgres,
     open_postgres,
     enqueue_postgres,
     postgres_schema_text},
#endif
};

constexpr BrokerEntry kBrokers[] = {
    {"file", "", check_file_broker, open_file},
    {"stdout", "", check_nothing_behind, open_stdout},
    {"null", "", check_nothing_behind, open_null},
#ifdef OUTRIDER_HTTP
    network_entry<parse_http_url, make_http_broker>("http", "https"),
#endif
#ifdef OUTRIDER_KAFKA
    network_entry<parse_kafka_url, make_kafka_broker>("kafka", "kafkas"),
#endif
#ifdef OUTRIDER_MQTT
    network_entry<parse_mqtt_url, make_mqtt_broker>("mqtt", "mqtts"),
#endif
#ifdef OUTRIDER_NATS
    network_entry<parse_nats_url, make_nats_broker>("nats", "natss"),
#endif
#ifdef OUTRIDER_RABBITMQ
    network_entry<parse_rabbitmq_url, make_rabbitmq_broker>("amqp", "amqps"),
#endif
#ifdef OUTRIDER_REDIS
    network_entry<parse_redis_url, make_redis_broker>("redis"),
#endif
};

// Schemes that Outrider has, or will have, in other builds.
constexpr std::array<std::string_view, 5> kOtherStores =
    {"postgres", "postgresql", "mysql", "mariadb", "sqlserver"};
constexpr std::array<std::string_view, 11> kOtherBrokers = {
    "kafka",
    "kafkas",
    "amqp",
    "amqps",
    "nats",
    "natss",
    "redis",
    "mqtt",
    "mqtts",
    "http",
    "https"};

template <class Entries>
std::vector<std::string> schemes_of(const Entries& entries) {
    std::vector<std::string> schemes;
    for (const auto& entry : entries) {
        schemes.emplace_back(entry.scheme);
        if (!entry.other_scheme.empty()) schemes.emplace_back(entry.other_scheme);
    }
    return schemes;
}

std::string list(const std::vector<std::string>& schemes) {
    std::string text;
    for (const std::string& scheme : schemes) {
        if (!text.empty()) text += ", ";
        text += scheme + ":";
    }
    return text;
}

template <class Entry, std::size_t count>
const Entry* find_entry(const Entry (&entries)[count], std::string_view scheme) {
    const auto* found = std::find_if(std::begin(entries), std::end(entries), [&](const Entry& e) {
        return !scheme.empty() && (e.scheme == scheme || e.other_scheme == scheme);
    });
    return found == std::end(entries) ? nullptr : found;
}

template <class Others>
std::string no_driver(
    const SecretUrl& url,
    const Others& others,
    const std::vector<std::string>& schemes
) {
    const std::string scheme = url.scheme();
    if (scheme.empty()) {
        return "'" + url.masked() + "' is no URL: begin it with one of " + list(schemes);
    }
    if (scheme == "handler") {
        return "'handler' is for relays embedded in a program (outrider::handler_broker); this "
               "one knows " +
               list(schemes);
    }
    if (scheme == "rediss") {
        return "rediss: is not possible, since hiredis 0.14 has no TLS: use redis: through a "
               "tunnel";
    }
    const bool is_other = std::find(others.begin(), others.end(), scheme) != others.end();
    if (is_other) {
        return "this build has no driver for '" + scheme + "': it knows " + list(schemes);
    }
    return "unknown scheme '" + scheme + "': expected one of " + list(schemes);
}

void add(Problems& problems, const Origin& origin, const Result<void>& checked) {
    if (!checked) problems.push_back({origin, checked.error().text, {}});
}

void add(Problems& problems, const Origin& /*of the URL*/, const Problems& found) {
    problems.insert(problems.end(), found.begin(), found.end());
}

// One check of a URL against a table of drivers. `subject`: what a driver looks at.
template <class Entries, class Others, class Subject>
void check_url(
    Problems& problems,
    const SecretUrl& url,
    const Origin& origin,
    const Entries& entries,
    const Others& others,
    const Subject& subject
) {
    if (url.empty()) return;
    const std::vector<std::string> schemes = schemes_of(entries);
    if (const auto* entry = find_entry(entries, url.scheme())) {
        add(problems, origin, entry->check(subject));
    } else {
        problems.push_back({origin, no_driver(url, others, schemes), nearest(url.scheme(), schemes)}
        );
    }
}

const StoreEntry& store_entry(const SecretUrl& url) {
    if (const StoreEntry* entry = find_entry(kStores, url.scheme())) return *entry;
    throw Stop(kUsage, no_driver(url, kOtherStores, store_schemes()));
}

// Lines behind a database's pages would destroy it.
bool writes_into_the_store(const Config& config, const DestinationConfig& one) {
    if (one.broker.scheme() != "file" || config.store.scheme() != "sqlite") return false;
    const Result<std::string> lines = path_of(one.broker);
    const Result<std::string> store = path_of(config.store);
    if (!lines || !store) return false;
    const auto real = [](const std::string& path) {
        std::error_code error;
        const std::filesystem::path whole = std::filesystem::absolute(path, error);
        return std::filesystem::weakly_canonical(whole, error).string();
    };
    const std::string database = real(*store);
    for (const std::string_view part : {"", "-wal", "-shm", "-journal", "-outrider-lock"}) {
        if (real(*lines) == database + std::string(part)) return true;
    }
    return false;
}

}  // namespace

Problems check_store(const Config& config) {
    Problems problems;
    const Origin origin = origin_of(config, {"store.url"});
    check_url(problems, config.store, origin, kStores, kOtherStores, config);
    return problems;
}

Problems check_brokers(const Config& config) {
    Problems problems;
    for (const DestinationConfig& one : config.destinations) {
        check_url(problems, one.broker, one.broker_origin, kBrokers, kOtherBrokers, one);
        if (!writes_into_the_store(config, one)) continue;
        problems.push_back({one.broker_origin, "that file is the store itself: name another", {}});
    }
    return problems;
}

std::shared_ptr<StoreDriver> open_store(const Config& config) {
    return store_entry(config.store).open(config);
}

std::shared_ptr<BrokerDriver> open_broker(const DestinationConfig& destination) {
    const SecretUrl& url = destination.broker;
    if (const BrokerEntry* entry = find_entry(kBrokers, url.scheme())) {
        return entry->open(destination);
    }
    throw Stop(kUsage, no_driver(url, kOtherBrokers, broker_schemes()));
}

bool is_server(const SecretUrl& broker) {
    const BrokerEntry* entry = find_entry(kBrokers, broker.scheme());
    return entry != nullptr && entry->is_server;
}

std::vector<MessageId> enqueue_all(const Config& config, std::span<const Message> messages) {
    return store_entry(config.store).enqueue(config, messages);
}

std::string schema_text(const Config& config) {
    return store_entry(config.store).schema_text(config);
}

std::vector<std::string> store_schemes() {
    return schemes_of(kStores);
}

std::vector<std::string> broker_schemes() {
    return schemes_of(kBrokers);
}

}  // namespace outrider::cli
