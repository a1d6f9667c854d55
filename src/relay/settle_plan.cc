#include "relay/settle_plan.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/assert.h"

namespace outrider {
namespace {

constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

// Why a message has no answer.
enum class Standing : std::uint8_t {
    answered,
    waiting,  // not due, or behind a parked message: nobody would have offered it
    open,     // could have been offered, or was and stayed unanswered
};

bool is_due(const Envelope& envelope, WallTime now) {
    return !envelope.deliver_after || *envelope.deliver_after <= now;
}

class Plan {
public:
    Plan(const Batch& batch, const Destination& destination, std::span<Settlement> settlements)
        : batch_(batch),
          destination_(destination),
          settlements_(settlements),
          standings_(batch.envelopes.size(), Standing::answered) {}

    void make() {
        for (std::size_t i = 0; i < standings_.size(); ++i) standings_[i] = stand(i);
        find_ends();
        for (std::size_t i = 0; i < standings_.size(); ++i) fill_in(i);
    }

private:
    Standing stand(std::size_t i) {
        const Envelope& envelope = batch_.envelopes[i];
        Settlement& settlement = settlements_[i];
        if (open_keys_.contains(envelope.order_key)) {
            settlement = Settlement{};
            return Standing::open;
        }
        if (settlement.fate != Fate::left) {
            if (!key_goes_on(settlement, destination_)) held_keys_.insert(envelope.order_key);
            return Standing::answered;
        }
        const bool held = envelope.blocked || held_keys_.contains(envelope.order_key);
        if (held || !is_due(envelope, batch_.now)) {
            if (destination_.on_failure == OnFailure::block) held_keys_.insert(envelope.order_key);
            return Standing::waiting;
        }
        open_keys_.insert(envelope.order_key);
        return Standing::open;
    }

    // Where each lane's cursor stops: the first open message behind the last answered one.
    void find_ends() {
        for (std::size_t i = 0; i < standings_.size(); ++i) {
            const Envelope& envelope = batch_.envelopes[i];
            if (envelope.parked) continue;
            std::size_t& end = ends_.try_emplace(envelope.lane, kNowhere).first->second;
            if (standings_[i] == Standing::answered) end = kNowhere;
            if (standings_[i] == Standing::open) end = std::min(end, i);
        }
    }

    void fill_in(std::size_t i) {
        const Envelope& envelope = batch_.envelopes[i];
        if (envelope.parked || standings_[i] == Standing::answered) return;
        if (i >= ends_.at(envelope.lane)) return;
        const WallTime due_at = std::max(batch_.now, envelope.deliver_after.value_or(batch_.now));
        settlements_[i] = wait_until(envelope, due_at);
    }

    const Batch& batch_;
    const Destination& destination_;
    std::span<Settlement> settlements_;
    std::vector<Standing> standings_;
    std::unordered_set<OrderKey> held_keys_;
    std::unordered_set<OrderKey> open_keys_;
    std::unordered_map<std::uint32_t, std::size_t> ends_;
};

}  // namespace

bool key_goes_on(const Settlement& settlement, const Destination& destination) {
    switch (settlement.fate) {
        case Fate::left:
            return false;
        case Fate::done:
            return true;
        case Fate::again:
            return destination.on_failure == OnFailure::skip;
        case Fate::dead:
            return !settlement.holds_key;
    }
    return false;
}

void complete(
    const Batch& batch,
    const Destination& destination,
    std::span<Settlement> settlements
) {
    OUTRIDER_ASSERT(batch.envelopes.size() == settlements.size());
    const bool all_done = std::all_of(settlements.begin(), settlements.end(), [](const auto& s) {
        return s.fate == Fate::done;
    });
    if (!all_done) Plan(batch, destination, settlements).make();
}

}  // namespace outrider
