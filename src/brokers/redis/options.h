#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "outrider/time.h"

#include "brokers/wire/options.h"
#include "brokers/wire/url.h"
#include "core/result.h"

namespace outrider {

// How to reach a Redis server, and what an acknowledgement of it must mean.
struct RedisOptions {
    wire::Endpoint endpoint{"127.0.0.1", 6379};

    // Empty: no login. A password without a user is that of the default user.
    std::string user;
    std::string password;

    // The number of the database.
    std::uint64_t database = 0;

    // Streams are trimmed to about this many entries (MAXLEN ~). 0: never, the default. Whatever is
    // trimmed before a consumer has read it is lost to it.
    std::uint64_t maxlen = 0;

    // How many replicas must have a message before it is acknowledged (WAIT). 0: none.
    std::uint64_t replicas = 0;

    // Whether it must be on the disk of the primary first (WAITAOF, Redis 7.2). An older server is
    // then refused.
    bool fsync = false;

    // How long replicas and disk may take. What they have not confirmed by then is unanswered.
    Duration wait = std::chrono::seconds(5);

    // Whether a server may be used that evicts whole streams when its memory is full.
    bool allow_eviction = false;

    wire::Options wire;
};

// Reads redis://[user:password@]host[:port][/database][?maxlen=&replicas=&fsync=&wait=&
// allow_eviction=&target=&format=&source=] over the given defaults. No part of the URL but names is
// ever quoted in an error.
[[nodiscard]] Result<RedisOptions> parse_redis_url(
    std::string_view url,
    RedisOptions defaults = {}
);

}  // namespace outrider
