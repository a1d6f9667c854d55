#include "relay/waves.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "relay/settle_plan.h"

namespace outrider {
namespace {

constexpr std::size_t kEnd = std::numeric_limits<std::size_t>::max();

// The smaller of two limits of which 0 means none.
std::size_t tighter(std::size_t a, std::size_t b) {
    if (a == 0 || b == 0) return std::max(a, b);
    return std::min(a, b);
}

}  // namespace

Waves::Waves(const Batch& batch, const Destination& destination, BrokerTraits traits)
    : batch_(batch),
      destination_(destination),
      keeps_order_(keeps_order(traits, destination.order, batch)),
      payload_bytes_max_(tighter(traits.payload_bytes_max, destination.payload_bytes_max)),
      successors_(batch.envelopes.size(), kEnd) {
    std::unordered_map<OrderKey, std::size_t> tails;
    tails.reserve(batch.envelopes.size());
    for (std::size_t i = 0; i < batch.envelopes.size(); ++i) {
        const auto [tail, is_head] = tails.try_emplace(batch.envelopes[i].order_key, i);
        if (is_head) {
            front_.push_back(i);
        } else {
            successors_[tail->second] = i;
            tail->second = i;
        }
    }
}

std::vector<std::size_t> Waves::next(std::span<Settlement> settlements, Dice& dice) {
    std::vector<std::size_t> wave;
    for (std::size_t& front : front_) {
        if (started_ && !key_goes_on(settlements[front], destination_)) {
            front = kEnd;
            continue;
        }
        front = seek(started_ ? successors_[front] : front, settlements, dice);
        if (front == kEnd) continue;
        wave.push_back(front);
        while (keeps_order_) {
            const std::size_t follower = seek(successors_[front], settlements, dice);
            if (follower == kEnd) break;
            front = follower;
            wave.push_back(front);
        }
    }
    started_ = true;
    std::erase(front_, kEnd);
    std::sort(wave.begin(), wave.end());
    return wave;
}

std::size_t Waves::seek(std::size_t place, std::span<Settlement> settlements, Dice& dice) const {
    for (; place != kEnd; place = successors_[place]) {
        const Envelope& envelope = batch_.envelopes[place];
        const bool due = !envelope.deliver_after || *envelope.deliver_after <= batch_.now;
        if (envelope.blocked || !due) return kEnd;
        const std::string reason = flaw(envelope);
        if (reason.empty()) return place;
        const Answer answer{Verdict::unacceptable, reason};
        settlements[place] = decide(envelope, answer, destination_, batch_.now, dice);
        if (!key_goes_on(settlements[place], destination_)) return kEnd;
    }
    return kEnd;
}

std::string Waves::flaw(const Envelope& envelope) const {
    if (!envelope.flaw.empty()) return std::string(envelope.flaw);
    if (payload_bytes_max_ == 0 || envelope.payload.size() <= payload_bytes_max_) return {};
    return "the payload has " + std::to_string(envelope.payload.size()) +
           " bytes, this destination takes at most " + std::to_string(payload_bytes_max_);
}

}  // namespace outrider
