#include "simulation/bugs.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "relay/settle_plan.h"

namespace outrider::simulation {
namespace {

// The memory of a batch that has lost its claim.
class Copies final : public Batch::Hold {
public:
    std::string_view keep(std::string_view text) { return texts_.emplace_back(text); }
    std::span<const HeaderView> keep(std::span<const HeaderView> headers) {
        std::vector<HeaderView>& copy = headers_.emplace_back();
        for (const HeaderView& header : headers) {
            copy.push_back({keep(header.name), keep(header.value)});
        }
        return copy;
    }

private:
    std::deque<std::string> texts_;
    std::deque<std::vector<HeaderView>> headers_;
};

Batch copy_of(const Batch& batch) {
    Batch copy;
    copy.now = batch.now;
    copy.full = batch.full;
    copy.next_due = batch.next_due;
    auto memory = std::make_unique<Copies>();
    for (Envelope envelope : batch.envelopes) {
        envelope.topic = memory->keep(envelope.topic);
        envelope.key = memory->keep(envelope.key);
        envelope.type = memory->keep(envelope.type);
        envelope.content_type = memory->keep(envelope.content_type);
        envelope.payload = memory->keep(envelope.payload);
        envelope.headers = memory->keep(envelope.headers);
        copy.envelopes.push_back(envelope);
    }
    copy.hold = std::move(memory);
    return copy;
}

// Passes everything on; the bugs of stores override a part.
class PlantedStore : public Store {
public:
    PlantedStore(Bug bug, const Destination& destination, std::unique_ptr<Store> store)
        : bug_(bug),
          destination_(destination),
          store_(std::move(store)) {}

    [[nodiscard]] Result<Batch> claim(const BatchLimits& limits) override {
        Result<Batch> claimed = store_->claim(limits);
        if (claimed && claimed->hold) spoil(*claimed);
        return claimed;
    }

    [[nodiscard]] Result<void> settle(Batch batch, std::span<const Settlement> settlements)
        override {
        if (bug_ == Bug::settle_forgotten && ++settles_ % 10 == 0) return {};
        std::vector<Settlement> copy(settlements.begin(), settlements.end());
        for (Settlement& settlement : copy) spoil(settlement);
        return store_->settle(std::move(batch), copy);
    }

protected:
    [[nodiscard]] Store& store() { return *store_; }
    [[nodiscard]] const Destination& destination() const { return destination_; }

private:
    void spoil(Batch& batch) const {
        for (Envelope& envelope : batch.envelopes) {
            if (bug_ == Bug::blocked_flag_dropped) envelope.blocked = false;
            if (bug_ == Bug::delay_ignored) envelope.deliver_after.reset();
            if (bug_ == Bug::headers_of_neighbour) {
                envelope.headers = batch.envelopes.front().headers;
            }
        }
        const bool several = batch.envelopes.size() > 1 && !batch.envelopes.back().parked;
        if (bug_ == Bug::cursor_past_unread && several) batch.envelopes.pop_back();
    }

    void spoil(Settlement& settlement) const {
        const bool parked = settlement.fate == Fate::again && bug_ == Bug::parked_forgotten;
        const bool dead = settlement.fate == Fate::dead && bug_ == Bug::dead_forgotten;
        if (parked || dead) settlement.fate = Fate::done;
    }

    const Bug bug_;
    const Destination destination_;
    std::unique_ptr<Store> store_;
    std::uint64_t settles_ = 0;
};

// Moves the cursor first and publishes then.
class HastyStore final : public PlantedStore {
public:
    using PlantedStore::PlantedStore;

    [[nodiscard]] Result<Batch> claim(const BatchLimits& limits) override {
        Result<Batch> claimed = store().claim(limits);
        if (!claimed || !claimed->hold) return claimed;
        Batch copy = copy_of(*claimed);
        std::vector<Settlement> settlements(copy.envelopes.size());
        for (std::size_t i = 0; i < settlements.size(); ++i) {
            const Envelope& envelope = copy.envelopes[i];
            if (!envelope.blocked && !envelope.deliver_after) settlements[i].fate = Fate::done;
        }
        complete(copy, destination(), settlements);
        const Result<void> settled = store().settle(std::move(claimed).value(), settlements);
        if (!settled) return settled.error();
        std::size_t place = 0;
        std::erase_if(copy.envelopes, [&](const Envelope&) {
            return settlements[place++].fate != Fate::done;
        });
        return copy;
    }

    [[nodiscard]] Result<void> settle(Batch /*batch*/, std::span<const Settlement>) override {
        return {};
    }
};

// Holds no lock while it publishes: somebody else may have the same messages.
class LooseStore final : public PlantedStore {
public:
    using PlantedStore::PlantedStore;

    [[nodiscard]] Result<Batch> claim(const BatchLimits& limits) override {
        Result<Batch> claimed = store().claim(limits);
        if (!claimed || !claimed->hold) return claimed;
        return copy_of(*claimed);
    }

    [[nodiscard]] Result<void> settle(Batch batch, std::span<const Settlement> settlements)
        override {
        Result<Batch> claimed = store().claim({100'000, 1U << 30U});
        if (!claimed) return claimed.error();
        if (!claimed->hold) return {};
        std::map<std::int64_t, Settlement> meant;
        for (std::size_t i = 0; i < settlements.size(); ++i) {
            meant.emplace(batch.envelopes[i].seq, settlements[i]);
        }
        std::vector<Settlement> match;
        for (const Envelope& envelope : claimed->envelopes) {
            const auto entry = meant.find(envelope.seq);
            match.push_back(entry == meant.end() ? Settlement{} : entry->second);
        }
        complete(*claimed, destination(), match);
        return store().settle(std::move(claimed).value(), match);
    }
};

class PlantedBroker final : public Broker {
public:
    PlantedBroker(Bug bug, std::unique_ptr<Broker> broker)
        : bug_(bug),
          broker_(std::move(broker)) {}

    [[nodiscard]] BrokerTraits traits() const override {
        BrokerTraits traits = broker_->traits();
        if (bug_ == Bug::false_promise_of_order) traits.keeps_order = true;
        return traits;
    }

    void publish(std::span<const Envelope> envelopes, Deadline deadline, std::span<Answer> answers)
        override {
        broker_->publish(envelopes, deadline, answers);
        const bool any = std::any_of(answers.begin(), answers.end(), [](const Answer& answer) {
            return answer.verdict == Verdict::acknowledged;
        });
        for (Answer& answer : answers) spoil(answer.verdict, any);
    }

    [[nodiscard]] Result<void> ping(Deadline deadline) override {
        if (bug_ == Bug::circuit_never_closes) return Error{Remedy::wait, "never"};
        return broker_->ping(deadline);
    }

private:
    void spoil(Verdict& verdict, bool any_acknowledged) const {
        const bool unanswered = verdict == Verdict::unanswered;
        if (bug_ == Bug::whole_burst_acknowledged && any_acknowledged) {
            verdict = Verdict::acknowledged;
        } else if (bug_ == Bug::unanswered_taken_for_acknowledged && unanswered) {
            verdict = Verdict::acknowledged;
        } else if (bug_ == Bug::attempts_charged_in_outage && unanswered) {
            verdict = Verdict::refused;
        } else if (bug_ == Bug::refusal_taken_for_death && verdict == Verdict::refused) {
            verdict = Verdict::unacceptable;
        }
    }

    const Bug bug_;
    std::unique_ptr<Broker> broker_;
};

}  // namespace

std::unique_ptr<Store> plant(
    Bug bug,
    const Destination& destination,
    std::unique_ptr<Store> store
) {
    switch (bug) {
        case Bug::none:
            return store;
        case Bug::settle_before_publish:
            return std::make_unique<HastyStore>(bug, destination, std::move(store));
        case Bug::lanes_not_locked:
            return std::make_unique<LooseStore>(bug, destination, std::move(store));
        default:
            return std::make_unique<PlantedStore>(bug, destination, std::move(store));
    }
}

std::unique_ptr<Broker> plant(Bug bug, std::unique_ptr<Broker> broker) {
    if (bug == Bug::none) return broker;
    return std::make_unique<PlantedBroker>(bug, std::move(broker));
}

Destination plant(Bug bug, Destination destination) {
    if (bug == Bug::key_continues_after_failure) destination.on_failure = OnFailure::skip;
    if (bug == Bug::key_continues_after_death) destination.after_death = AfterDeath::go_on;
    if (bug == Bug::global_order_by_key && destination.order == Order::global) {
        destination.order = Order::key;
    }
    if (bug == Bug::keys_wait_for_each_other) destination.order = Order::global;
    return destination;
}

void clean_up_unread(StoreDriver& database, const Destination& destination, Duration retention) {
    Result<std::unique_ptr<Store>> store = database.open(destination);
    Result<Batch> claimed = (*store)->claim({100'000, 1U << 30U});
    if (!claimed || !claimed->hold) return;
    std::vector<Settlement> settlements(claimed->envelopes.size());
    std::set<std::uint32_t> stopped;
    for (std::size_t i = 0; i < settlements.size(); ++i) {
        const Envelope& envelope = claimed->envelopes[i];
        if (envelope.parked) continue;
        if (envelope.occurred_at + retention > claimed->now) stopped.insert(envelope.lane);
        if (!stopped.contains(envelope.lane)) settlements[i].fate = Fate::done;
    }
    const Result<void> settled = (*store)->settle(std::move(claimed).value(), settlements);
    static_cast<void>(settled);
}

std::string_view to_string(Bug bug) {
    constexpr std::string_view kNames[] = {
        "none",
        "unanswered_taken_for_acknowledged",
        "settle_before_publish",
        "lanes_not_locked",
        "cursor_past_unread",
        "late_commit_lost",
        "false_promise_of_order",
        "blocked_flag_dropped",
        "parked_forgotten",
        "dead_forgotten",
        "clean_up_ignores_cursors",
        "attempts_charged_in_outage",
        "rollback_published",
        "whole_burst_acknowledged",
        "key_continues_after_failure",
        "key_continues_after_death",
        "global_order_by_key",
        "settle_forgotten",
        "headers_of_neighbour",
        "delay_ignored",
        "circuit_never_closes",
        "refusal_taken_for_death",
        "stale_settle_written",
        "keys_wait_for_each_other",
        "outage_stops_everybody",
    };
    static_assert(std::size(kNames) == kBugs);
    return kNames[static_cast<std::size_t>(bug)];
}

}  // namespace outrider::simulation
