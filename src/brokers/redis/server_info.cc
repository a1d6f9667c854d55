#include "brokers/redis/server_info.h"

#include <algorithm>
#include <charconv>

namespace outrider::redis {
namespace {

template <class Number>
Number number(std::string_view text) {
    Number value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

void read_version(ServerInfo& info, std::string_view value) {
    info.version = std::string(value);
    info.major = number<int>(value);
    const std::size_t dot = value.find('.');
    if (dot != std::string_view::npos) info.minor = number<int>(value.substr(dot + 1));
}

// The value of one of name=value,name=value; empty: there is none.
std::string_view part_of(std::string_view text, std::string_view name) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(','), text.size());
        const std::string_view part = text.substr(0, end);
        if (part.starts_with(name) && part.substr(name.size()).starts_with('=')) {
            return part.substr(name.size() + 1);
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return {};
}

// What Redis itself calls a good one by default (min-replicas-max-lag). A replica says something
// every second; one that is frozen or cut off stays "online" for a minute.
constexpr int kLagSecondsMax = 10;

bool is_good_replica(std::string_view value) {
    return part_of(value, "state") == "online" &&
           number<int>(part_of(value, "lag")) <= kLagSecondsMax;
}

// slave0, slave1, ...; but slave_priority and others are not.
bool is_replica_name(std::string_view name) {
    constexpr std::string_view kStem = "slave";
    return name.starts_with(kStem) && name.size() > kStem.size() &&
           name.find_first_not_of("0123456789", kStem.size()) == std::string_view::npos;
}

void read_replication(ServerInfo& info, std::string_view name, std::string_view value) {
    if (name == "role") info.is_replica = value == "slave";
    if (name == "connected_slaves") info.replicas = info.replicas.value_or(0);
    if (is_replica_name(name) && is_good_replica(value)) {
        info.replicas = info.replicas.value_or(0) + 1;
    }
}

void read_line(ServerInfo& info, std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = line.substr(colon + 1);
    if (name == "redis_version") read_version(info, value);
    read_replication(info, name, value);
    if (name == "cluster_enabled") info.is_in_cluster = value == "1";
    if (name == "loading") info.is_loading = value == "1";
    if (name == "aof_enabled") info.has_log = value == "1";
    if (name == "used_memory") info.used_memory = number<std::uint64_t>(value);
    if (name == "maxmemory") info.maxmemory = number<std::uint64_t>(value);
    if (name == "maxmemory_policy") info.maxmemory_policy = std::string(value);
}

// Streams have no expiry, so the volatile policies leave them alone.
bool evicts_streams(const ServerInfo& info) {
    return info.maxmemory > 0 && info.maxmemory_policy.starts_with("allkeys-");
}

// Where there is no append-only file.
std::string_view snapshots_of(const ServerInfo& info) {
    if (!info.save) return "; whether it makes snapshots is not told to this user";
    if (info.save->empty()) return " only: it writes nothing to disk (appendonly no, save \"\")";
    return ", on its disk with the next snapshot (appendonly no)";
}

// Entries are stored before their safety can be waited for: whoever tries while there is no hope
// stores another copy each time.
Result<void> check_safety(const ServerInfo& info, const RedisOptions& options) {
    if (options.fsync && !has_waitaof(info)) {
        return Error{
            Remedy::upgrade,
            "fsync=true needs WAITAOF, that is Redis 7.2; this is " + info.version +
                ": set appendfsync always on the server instead"};
    }
    if (options.fsync && !info.has_log) {
        return Error{Remedy::correct, "fsync=true needs an append-only file: set appendonly yes"};
    }
    const std::uint64_t there = info.replicas.value_or(options.replicas);
    if (there >= options.replicas) return {};
    return Error{
        Remedy::wait,
        std::to_string(there) + " of " + std::to_string(options.replicas) +
            " replicas are online and heard of (replicas=)"};
}

}  // namespace

ServerInfo parse_info(std::string_view text) {
    ServerInfo info;
    while (!text.empty()) {
        const std::size_t end = text.find("\r\n");
        read_line(info, text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
    }
    return info;
}

bool has_waitaof(const ServerInfo& info) {
    return info.major == 0 || info.major > 7 || (info.major == 7 && info.minor >= 2);
}

Result<void> check_server(const ServerInfo& info, const RedisOptions& options) {
    if (info.is_in_cluster) {
        return Error{Remedy::correct, "this Redis is a node of a cluster: these are not supported"};
    }
    if (info.is_loading) return Error{Remedy::wait, "Redis is still loading its data"};
    // Some take writes all the same, and forget them when they next synchronise.
    if (info.is_replica) return Error{Remedy::wait, "this Redis is a replica"};
    if (evicts_streams(info) && !options.allow_eviction) {
        return Error{Remedy::correct, risk_of(info) + ", or say allow_eviction=true"};
    }
    const bool is_full = info.maxmemory > 0 && info.used_memory >= info.maxmemory;
    if (is_full && !info.maxmemory_policy.starts_with("allkeys-")) {
        return Error{Remedy::wait, "the memory of this Redis is full (maxmemory)"};
    }
    return check_safety(info, options);
}

std::string risk_of(const ServerInfo& info) {
    if (!evicts_streams(info)) return {};
    return "this Redis evicts whole streams when its memory is full (maxmemory-policy " +
           info.maxmemory_policy + "): set it to noeviction";
}

std::string durability_of(const ServerInfo& info, const RedisOptions& options) {
    std::string text = "in the memory of the primary";
    if (options.fsync || (info.appendonly == "yes" && info.appendfsync == "always")) {
        text = "on the disk of the primary";
    } else if (info.appendonly == "yes") {
        text += ", on its disk ";
        text += info.appendfsync == "everysec" ? "within a second" : "when the system writes it";
    } else if (info.appendonly == "no") {
        text += snapshots_of(info);
    } else {
        text += "; whether it has an append-only file is not told to this user";
    }
    if (options.replicas > 0) {
        text += "; in the memory of " + std::to_string(options.replicas) + " replicas";
    }
    return text;
}

}  // namespace outrider::redis
