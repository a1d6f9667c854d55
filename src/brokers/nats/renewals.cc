#include "brokers/nats/renewals.h"

#include <algorithm>

namespace outrider::nats {
namespace {

constexpr std::size_t kKeysMax = 10'000;

}  // namespace

void Renewals::remember(OrderKey key, std::uint64_t sequence) {
    if (by_key_.size() >= kKeysMax) {
        for (const auto& [_, last] : by_key_) of_every_key_ = std::max(of_every_key_, last);
        by_key_.clear();
    }
    std::uint64_t& last = by_key_[key];
    last = std::max(last, sequence);
}

bool Renewals::is_overtaken(OrderKey key, std::uint64_t sequence) const {
    if (sequence < of_every_key_) return true;
    const auto found = by_key_.find(key);
    return found != by_key_.end() && sequence < found->second;
}

}  // namespace outrider::nats
