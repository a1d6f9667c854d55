#include "brokers/wire/chains.h"

#include <limits>
#include <unordered_map>

#include "core/assert.h"

namespace outrider::wire {
namespace {

constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();

}  // namespace

Chains::Chains(std::span<const Envelope> envelopes) : followers_(envelopes.size(), kNobody) {
    std::unordered_map<OrderKey, std::size_t> tails;
    tails.reserve(envelopes.size());
    ready_.reserve(envelopes.size());
    for (std::size_t place = 0; place < envelopes.size(); ++place) {
        const auto [tail, is_first] = tails.try_emplace(envelopes[place].order_key, place);
        if (is_first) {
            ready_.push_back(place);
        } else {
            followers_[tail->second] = place;
            tail->second = place;
        }
    }
}

std::size_t Chains::next() {
    OUTRIDER_ASSERT(is_any_ready());
    return ready_[next_++];
}

void Chains::acknowledged(std::size_t place) {
    if (followers_[place] != kNobody) ready_.push_back(followers_[place]);
}

}  // namespace outrider::wire
