#include "brokers/redis/options.h"

#include <charconv>

#include "brokers/wire/parameters.h"
#include "brokers/wire/target.h"

namespace outrider {
namespace {

constexpr std::string_view kNoTls =
    "rediss: is not possible, since hiredis 0.14 has no TLS: use redis: through a tunnel on this "
    "machine (stunnel, spiped)";

Result<std::uint64_t> read_database(std::string_view path) {
    std::uint64_t database = 0;
    if (path.empty()) return database;
    const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), database);
    if (error != std::errc{} || end != path.data() + path.size()) {
        return Error{Remedy::correct, "the path of a redis: URL is the number of a database"};
    }
    return database;
}

Result<void> read_parameters(std::vector<wire::Parameter> given, RedisOptions& options) {
    wire::Parameters parameters(std::move(given));
    parameters.number("maxlen", options.maxlen);
    parameters.number("replicas", options.replicas);
    parameters.flag("fsync", options.fsync);
    parameters.duration("wait", options.wait);
    parameters.flag("allow_eviction", options.allow_eviction);
    parameters.wire(options.wire);
    return parameters.finish();
}

}  // namespace

Result<RedisOptions> parse_redis_url(std::string_view url, RedisOptions defaults) {
    const Result<wire::Url> parsed = wire::parse_url(url);
    if (!parsed) return parsed.error();
    if (parsed->scheme == "rediss") return Error{Remedy::upgrade, std::string(kNoTls)};
    if (parsed->scheme != "redis") return Error{Remedy::correct, "expected a redis: URL"};
    if (parsed->endpoints.size() != 1) {
        return Error{Remedy::correct, "a redis: URL names one host: clusters are not supported"};
    }
    const Result<std::uint64_t> database = read_database(parsed->path);
    if (!database) return database.error();
    RedisOptions options = std::move(defaults);
    options.endpoint = parsed->endpoints.front();
    if (options.endpoint.port == 0) options.endpoint.port = 6379;
    options.user = parsed->user;
    options.password = parsed->password;
    options.database = *database;
    if (Result<void> read = read_parameters(parsed->parameters, options); !read) {
        return read.error();
    }
    const Result<wire::Target> target = wire::Target::parse(options.wire.target);
    if (!target) return target.error();
    return options;
}

}  // namespace outrider
