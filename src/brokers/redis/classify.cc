#include "brokers/redis/classify.h"

#include <array>

namespace outrider::redis {
namespace {

struct Row {
    std::string_view prefix;
    Verdict verdict;
};

// The first row that fits decides.
constexpr std::array<Row, 26> kRows = {{
    // The server as a whole.
    {"READONLY", Verdict::unanswered},     // a replica, perhaps since a minute ago
    {"LOADING", Verdict::unanswered},      // still reading its data
    {"MASTERDOWN", Verdict::unanswered},   // a replica that has lost its primary
    {"OOM", Verdict::unanswered},          // maxmemory is reached
    {"MISCONF", Verdict::unanswered},      // cannot save to disk, and says so by refusing writes
    {"NOREPLICAS", Verdict::unanswered},   // min-replicas-to-write is not met
    {"BUSY", Verdict::unanswered},         // a script runs; also BUSYKEY, which XADD never says
    {"UNKILLABLE", Verdict::unanswered},   // the same, and it has written
    {"MOVED", Verdict::unanswered},        // a cluster, which is not supported; it and those below
    {"ASK", Verdict::unanswered},          // slots are moving
    {"TRYAGAIN", Verdict::unanswered},     // the same
    {"CROSSSLOT", Verdict::unanswered},    // a transaction over several slots
    {"CLUSTERDOWN", Verdict::unanswered},  // slots are not served
    {"NOAUTH", Verdict::unanswered},       // nobody is logged in
    {"WRONGPASS", Verdict::unanswered},    // the login is wrong
    {"DENIED", Verdict::unanswered},       // protected mode
    {"ERR max number of clients", Verdict::unanswered},
    {"ERR DB index is out of range", Verdict::unanswered},
    {"ERR invalid password", Verdict::unanswered},  // before Redis 6
    {"ERR AUTH", Verdict::unanswered},              // a password for a server that has none
    {"ERR Client sent AUTH", Verdict::unanswered},  // the same before Redis 6
    // One message.
    {"ERR Protocol error: invalid bulk length", Verdict::unacceptable},
    {"ERR Protocol error: too big", Verdict::unacceptable},
    {"ERR Protocol error", Verdict::unanswered},
    // One stream: an operator can mend it.
    {"WRONGTYPE", Verdict::refused},  // the name is taken by something that is no stream
    {"NOPERM", Verdict::refused},     // the user may not write there
}};

}  // namespace

Verdict classify(std::string_view error) {
    for (const Row& row : kRows) {
        if (error.starts_with(row.prefix)) return row.verdict;
    }
    return Verdict::refused;
}

}  // namespace outrider::redis
