#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/demo.h"
#include "config/config.h"

// What the command line said, as plain values. Empty text: not given.
namespace outrider::cli {

// Taken by every verb.
struct CommonArguments {
    std::string config_file;
    std::vector<ConfigFlag> flags;  // --set, --store, --log-level, --log-format
    bool json = false;
};

struct RelayArguments {
    bool drain = false;
    bool migrate = false;
    std::string timeout;
};

struct EnqueueArguments {
    std::string topic;
    std::string payload;
    bool has_payload = false;
    bool from_stdin = false;
    bool jsonl = false;
    std::string key;
    std::string type;
    std::string content_type;
    std::vector<std::string> headers;
    std::string id;
    std::string deliver_after;
};

struct StatusArguments {
    std::string max_age;
    bool watch = false;
};

struct DeadArguments {
    std::vector<std::string> ids;
    std::string destination;
    std::string topic;
    std::string key;
    bool has_key = false;
    std::size_t limit = 0;  // 0: the verb's own
    bool all = false;
    bool dry_run = false;
    bool yes = false;
};

struct ReplayArguments {
    std::string destination;
    std::string from;
    std::string topic;
    std::string key;
    bool has_key = false;
    bool dry_run = false;
    bool yes = false;
};

struct AdoptArguments {
    std::optional<bool> follow_promotions;  // not said: as before
    bool yes = false;
};

struct DestinationArguments {
    std::string name;
    bool yes = false;
    bool publish = false;
    std::string topic;
};

struct ImportArguments {
    bool no_trigger = false;
    bool order_per_topic = false;
    bool yes = false;
};

struct DispatchArguments {
    std::vector<std::string> ids;
    std::string destination;
};

// One word of the command line with its flags, for completion.
struct CommandWord {
    struct Flag {
        std::string name;  // "--json"
        std::string sentence;
        bool takes_value = false;
        bool takes_file = false;
    };
    std::string name;
    std::string sentence;
    std::vector<Flag> flags;
    std::vector<CommandWord> words;
};

// The verb that was asked for: call it, it returns the exit code.
using Verb = std::function<int()>;

}  // namespace outrider::cli
