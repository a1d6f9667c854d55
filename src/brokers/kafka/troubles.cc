#include "brokers/kafka/troubles.h"

namespace outrider::kafka {
namespace {

// What was noted longer ago is another trouble.
constexpr Duration kSame = std::chrono::minutes(5);

}  // namespace

void Troubles::note(
    const std::string& topic,
    std::int32_t partition,
    std::string reason,
    MonoTime now,
    Duration rest
) {
    const auto [found, is_new] = troubles_.try_emplace({topic, partition});
    Trouble& trouble = found->second;
    if (is_new || now - trouble.noted_at > kSame) trouble.since = now;
    trouble.reason = std::move(reason);
    trouble.noted_at = now;
    trouble.until = now + rest;
}

void Troubles::forget(const std::string& topic, std::int32_t partition) {
    troubles_.erase({topic, partition});
}

bool Troubles::is_resting(const std::string& topic, std::int32_t partition, MonoTime now) const {
    const auto found = troubles_.find({topic, partition});
    return found != troubles_.end() && now < found->second.until;
}

std::string Troubles::reason(const std::string& topic, std::int32_t partition) const {
    const auto found = troubles_.find({topic, partition});
    return found == troubles_.end() ? std::string() : found->second.reason;
}

bool Troubles::is_own(const std::string& topic, std::int32_t partition) const {
    const auto found = troubles_.find({topic, partition});
    return found != troubles_.end() && took_at_ > found->second.since;
}

}  // namespace outrider::kafka
