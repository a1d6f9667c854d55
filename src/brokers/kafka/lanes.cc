#include "brokers/kafka/lanes.h"

namespace outrider::kafka {
namespace {

// How long a partition is sure to remember a producer (producer.id.expiration.ms is a day unless
// somebody changed it).
constexpr Duration kRemembered = std::chrono::minutes(1);

}  // namespace

void Lanes::begin(MonoTime now) {
    begun_at_ = now;
    waiting_.clear();
    ready_.clear();
}

bool Lanes::enter(Topic& topic, std::int32_t partition, std::size_t place) {
    if (!waiting_.empty()) {
        const auto found = waiting_.find({topic.handle.get(), partition});
        if (found != waiting_.end()) {
            found->second.places.push_back(place);
            return false;
        }
    }
    const MonoTime known_at = topic.acknowledged_at[static_cast<std::size_t>(partition)];
    if (known_at > begun_at_ - kRemembered) return true;
    waiting_[{topic.handle.get(), partition}] = {&topic, partition, {}};
    return true;
}

void Lanes::acknowledge(const rd_kafka_topic_t* topic, std::int32_t partition) {
    if (waiting_.empty()) return;
    const auto found = waiting_.find({topic, partition});
    if (found == waiting_.end()) return;
    std::vector<MonoTime>& known = found->second.topic->acknowledged_at;
    const auto place = static_cast<std::size_t>(partition);
    if (place < known.size()) known[place] = begun_at_;  // else it was forgotten meanwhile
    ready_.emplace_back(topic, partition);
}

std::optional<Lanes::Ready> Lanes::take_ready() {
    while (!ready_.empty()) {
        auto lane = waiting_.extract(ready_.back());
        ready_.pop_back();
        if (!lane.empty()) return std::move(lane.mapped());
    }
    return std::nullopt;
}

}  // namespace outrider::kafka
