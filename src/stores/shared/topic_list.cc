#include "stores/shared/topic_list.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace outrider {

std::string topics_json(const std::vector<std::string>& topics) {
    std::vector<std::string> sorted = topics;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    return nlohmann::json(sorted).dump();
}

std::vector<std::string> read_topics(std::string_view json) {
    return nlohmann::json::parse(json).get<std::vector<std::string>>();
}

Error another_list(const Destination& destination, std::string_view stored) {
    return {
        Remedy::correct,
        "destination '" + destination.name + "' takes " + std::string(stored) +
            " since another relay was started with that list, this one has " +
            topics_json(destination.topics) +
            ": stop it, or start it again to bring its list into force"};
}

Result<void> TopicLists::may_replace(const Destination& destination, std::string_view stored)
    const {
    const std::lock_guard lock(mutex_);
    const bool ours = registered_.contains({destination.name, topics_json(destination.topics)});
    if (ours) return another_list(destination, stored);
    return {};
}

void TopicLists::remember(const Destination& destination) {
    const std::lock_guard lock(mutex_);
    registered_.emplace(destination.name, topics_json(destination.topics));
}

}  // namespace outrider
