#include "admin/expected.h"

#include <algorithm>

#include "core/topics.h"

namespace outrider::admin {
namespace {

bool is_known(const Backlog& backlog, const std::string& name) {
    return std::any_of(
        backlog.destinations.begin(),
        backlog.destinations.end(),
        [&](const DestinationStatus& status) { return status.name == name; }
    );
}

DestinationStatus expected_status(const Backlog& backlog, const Destination& destination) {
    DestinationStatus status;
    status.name = destination.name;
    status.topics = destination.topics;
    if (destination.start == Start::now) return status;
    for (const UnroutedTopic& topic : backlog.unrouted) {
        if (matches_any(destination.topics, topic.topic)) status.pending += topic.messages;
    }
    return status;
}

}  // namespace

void add_expected(Backlog& backlog, const std::vector<Destination>& configured) {
    std::vector<DestinationStatus> added;
    for (const Destination& destination : configured) {
        if (is_known(backlog, destination.name)) continue;
        added.push_back(expected_status(backlog, destination));
    }
    for (DestinationStatus& status : added) {
        std::erase_if(backlog.unrouted, [&](const UnroutedTopic& topic) {
            return matches_any(status.topics, topic.topic);
        });
        backlog.destinations.push_back(std::move(status));
    }
    std::sort(
        backlog.destinations.begin(),
        backlog.destinations.end(),
        [](const auto& a, const auto& b) { return a.name < b.name; }
    );
}

}  // namespace outrider::admin
