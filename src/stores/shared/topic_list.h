#pragma once

#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "outrider/destination.h"

#include "core/result.h"

namespace outrider {

// The topics of a destination as stores keep them: a JSON array of texts, sorted, each once, so
// that lists that mean the same are the same text.
[[nodiscard]] std::string topics_json(const std::vector<std::string>& topics);

[[nodiscard]] std::vector<std::string> read_topics(std::string_view json);

// A destination's list of topics lives in the database, and a claim with another list is refused:
// relays with different lists would pass over each other's messages. The newest registration wins.
// This is what a process remembers of its own registrations, so that it makes each only once: a
// relay that comes back after a newer one has changed the list must not change it back. Safe from
// any thread.
class TopicLists {
public:
    // Whether this process may make `destination` known with its list: nothing, if it is new to us;
    // if it is not, somebody has replaced it meanwhile, and the error (correct) says so. `stored`:
    // what the database has.
    [[nodiscard]] Result<void> may_replace(const Destination& destination, std::string_view stored)
        const;

    // It is in the database now.
    void remember(const Destination& destination);

private:
    mutable std::mutex mutex_;
    std::set<std::pair<std::string, std::string>> registered_;
};

// Why a claim with another list than the stored one is refused.
[[nodiscard]] Error another_list(const Destination& destination, std::string_view stored);

}  // namespace outrider
