#pragma once

#include <cstdint>
#include <string>

namespace outrider::postgres {

// When a settle returns.
enum class Settle : std::uint8_t {
    fast,     // at once: a crash of the server repeats what was settled since its last WAL flush
              // (default)
    durable,  // when it is on disk
};

// How to reach a log, and how to behave there.
struct StoreOptions {
    // Anything libpq takes: a URL or key=value pairs. May contain a password, so it is never shown.
    std::string conninfo;

    // Where the tables are. Default "outrider".
    std::string schema = "outrider";

    Settle settle = Settle::fast;

    // Lanes of a log that is created by migrate(); 1 to 256. Ignored where it exists. Default 16.
    int lanes = 16;

    // What is due is reckoned by this expression. For tests, which have a clock of their own.
    std::string now = "clock_timestamp()";
};

}  // namespace outrider::postgres
