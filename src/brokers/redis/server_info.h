#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "brokers/redis/options.h"

namespace outrider::redis {

// What a server says about itself. What it would not say keeps its default, which objects to
// nothing.
struct ServerInfo {
    int major = 0;  // 0: not known
    int minor = 0;
    bool is_replica = false;
    bool is_in_cluster = false;
    bool is_loading = false;
    std::uint64_t used_memory = 0;
    std::uint64_t maxmemory = 0;  // 0: no limit
    std::string maxmemory_policy;
    std::string version;
    std::string appendonly;           // yes, no; empty: not known
    std::string appendfsync;          // always, everysec, no
    std::optional<std::string> save;  // when snapshots are made; empty: never
    bool has_log = true;              // whether the append-only file is on now

    // Replicas that are synchronised, and were heard of a moment ago. Nothing: not known.
    std::optional<std::uint64_t> replicas;
};

// Reads the reply to INFO.
[[nodiscard]] ServerInfo parse_info(std::string_view text);

// Whether it can wait for its disk; true where the version is not known. Pure.
[[nodiscard]] bool has_waitaof(const ServerInfo& info);

// Whether such a server may be used with these options, and would take a message now. The error
// says why not, and what to change. Pure.
[[nodiscard]] Result<void> check_server(const ServerInfo& info, const RedisOptions& options);

// What an acknowledgement of such a server means with these options. Pure.
[[nodiscard]] std::string durability_of(const ServerInfo& info, const RedisOptions& options);

// What can lose messages there that were acknowledged; empty: nothing is known. Pure.
[[nodiscard]] std::string risk_of(const ServerInfo& info);

}  // namespace outrider::redis
