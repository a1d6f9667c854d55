#include "relay/turn.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "core/assert.h"
#include "core/hash.h"
#include "relay/settle_plan.h"
#include "relay/waves.h"

namespace outrider {
namespace {

using Outcome = TurnReport::Outcome;

class Turn {
public:
    Turn(Store& store, Broker& broker, const TurnContext& context)
        : store_(store),
          broker_(broker),
          context_(context),
          traits_(broker.traits()) {}

    TurnReport make() {
        if (!claim()) return report_;
        settlements_.resize(batch_.envelopes.size());
        publish();
        complete(batch_, context_.destination, settlements_);
        settle();
        return report_;
    }

private:
    // False: nothing to do, and the report says why.
    bool claim() {
        start_ = context_.clock.now();
        // Reckoned from before the claim: a process that was frozen since has lost its lanes.
        deadline_ = start_ + context_.destination.publish_deadline;
        Result<Batch> claimed = store_.claim(context_.limits);
        if (!claimed) return fail(Stage::claim, std::move(claimed).error());
        batch_ = std::move(claimed).value();
        report_.store_time = context_.clock.now() - start_;
        context_.observer.claimed(context_.destination, batch_.envelopes, report_.store_time);
        report_.full = batch_.full;
        report_.messages = batch_.envelopes.size();
        report_.written = batch_.written;
        if (batch_.next_due) report_.next_due = *batch_.next_due - batch_.now;
        if (batch_.held_elsewhere) report_.outcome = Outcome::held;
        if (batch_.paused) report_.outcome = Outcome::paused;
        // Only messages of other topics so far, too few to settle: go on reading.
        if (batch_.full) report_.outcome = Outcome::moved;
        return batch_.passed || !batch_.envelopes.empty();
    }

    void publish() {
        if (is_plain()) return offer_all();
        Waves waves(batch_, context_.destination, traits_);
        while (may_offer()) {
            const std::vector<std::size_t> wave = waves.next(settlements_, context_.dice);
            if (wave.empty()) return;
            const std::size_t size = traits_.burst_max == 0 ? wave.size() : traits_.burst_max;
            for (std::size_t at = 0; at < wave.size() && may_offer(); at += size) {
                offer(still_open(std::span(wave).subspan(at, std::min(size, wave.size() - at))));
            }
        }
    }

    // One burst will do, in the order of the batch, without a copy.
    [[nodiscard]] bool is_plain() const {
        if (!keeps_order(traits_, context_.destination.order, batch_)) return false;
        if (traits_.payload_bytes_max + traits_.burst_max != 0) return false;
        if (context_.destination.payload_bytes_max != 0) return false;
        return std::none_of(batch_.envelopes.begin(), batch_.envelopes.end(), [](const auto& e) {
            return e.blocked || e.deliver_after || !e.flaw.empty();
        });
    }

    // A paused process may wake up long after its lanes went to somebody else: the deadline, looked
    // at right before every burst, bounds what it can still send.
    [[nodiscard]] bool may_offer() const {
        return !unanswered_ && !context_.stop.stop_requested() && context_.clock.now() < deadline_;
    }

    // What follows a failure of its key must not be offered in this turn: a broker keeps order
    // within a burst, not across the bursts of a wave.
    [[nodiscard]] std::vector<std::size_t> still_open(std::span<const std::size_t> part) const {
        std::vector<std::size_t> open;
        for (const std::size_t place : part) {
            if (!failed_keys_.contains(batch_.envelopes[place].order_key)) open.push_back(place);
        }
        return open;
    }

    void offer(std::span<const std::size_t> wave) {
        if (wave.empty() || is_turned_away(wave.front())) return;
        std::vector<Envelope> burst;
        burst.reserve(wave.size());
        for (const std::size_t place : wave) burst.push_back(batch_.envelopes[place]);
        const std::vector<Answer> answers = ask_broker(burst);
        if (context_.caution != nullptr) context_.caution->survived(burst.front());
        std::unordered_set<OrderKey> refused;
        for (std::size_t i = 0; i < wave.size(); ++i) {
            take(wave[i], answers[i], refused);
        }
    }

    // A message that was handled already, or has ended the process too often, is answered for
    // without being offered.
    bool is_turned_away(std::size_t place) {
        if (context_.caution == nullptr) return false;
        OUTRIDER_ASSERT(traits_.burst_max == 1);
        const std::optional<Answer> answer = known_answer(batch_.envelopes[place]);
        if (!answer) return false;
        std::unordered_set<OrderKey> refused;
        take(place, *answer, refused);
        return true;
    }

    [[nodiscard]] std::optional<Answer> known_answer(const Envelope& envelope) {
        if (context_.handled->contains(envelope, context_.clock.now())) {
            return Answer{Verdict::acknowledged, {}, {}};
        }
        return context_.caution->admit(envelope);
    }

    void offer_all() {
        if (batch_.envelopes.empty() || !may_offer()) return;
        const std::vector<Answer> answers = ask_broker(batch_.envelopes);
        std::unordered_set<OrderKey> refused;
        for (std::size_t i = 0; i < answers.size(); ++i) {
            take(i, answers[i], refused);
        }
    }

    std::vector<Answer> ask_broker(std::span<const Envelope> burst) {
        std::vector<Answer> answers(burst.size());
        const MonoTime start = context_.clock.now();
        broker_.publish(burst, deadline_, answers);
        context_.observer.published(
            context_.destination, burst, answers, context_.clock.now() - start
        );
        const std::string statistics = broker_.take_statistics();
        if (!statistics.empty()) {
            context_.observer.broker_statistics(context_.destination, statistics);
        }
        return answers;
    }

    [[nodiscard]] bool stops_behind_failure() const {
        return traits_.keeps_order || traits_.keeps_global_order || traits_.keeps_order_keys;
    }

    // What a broker stops behind a failure: the messages of its topic and key, also where the
    // destination wants no order, unless the driver looks at what the destination orders by.
    [[nodiscard]] OrderKey stopped_key(const Envelope& envelope) const {
        if (traits_.keeps_order_keys) return envelope.order_key;
        const Order order = traits_.keeps_global_order ? Order::global : Order::key;
        return order_key(order, envelope.topic, envelope.key, envelope.seq);
    }

    // Whatever an order-keeping broker says of the rest of a key behind a refusal in the same
    // burst, it means the refusal: the rest is not charged, and nobody is away.
    [[nodiscard]] bool is_passed_over(
        const Envelope& envelope,
        const Answer& answer,
        std::unordered_set<OrderKey>& refused
    ) const {
        if (!stops_behind_failure() || answer.verdict == Verdict::acknowledged) return false;
        if (answer.verdict == Verdict::unanswered && refused.empty()) return false;
        const OrderKey key = stopped_key(envelope);
        if (answer.verdict == Verdict::unanswered) return refused.contains(key);
        return !refused.insert(key).second;
    }

    // By the store's clock, which was read when the claim began.
    [[nodiscard]] WallTime now() const { return batch_.now + (context_.clock.now() - start_); }

    [[nodiscard]] Settlement judge(const Envelope& envelope, const Answer& answer) {
        // Without another one to try, nothing could tell the message's fault from the broker's.
        const bool is_alone =
            context_.lone != nullptr && batch_.envelopes.size() == 1 && batch_.full;
        if (is_alone && answer.verdict == Verdict::unanswered) {
            return context_.lone->judge(
                envelope, answer, context_.destination, now(), context_.dice
            );
        }
        return decide(envelope, answer, context_.destination, batch_.now, context_.dice);
    }

    void take(std::size_t place, const Answer& answer, std::unordered_set<OrderKey>& refused) {
        const Envelope& envelope = batch_.envelopes[place];
        Settlement& settlement = settlements_[place];
        const bool passed_over = is_passed_over(envelope, answer, refused);
        if (!passed_over) settlement = judge(envelope, answer);
        // Who died of refusals may be accepted after all if this turn is not settled: until then
        // nothing passes it.
        const bool dying = settlement.fate == Fate::dead && answer.verdict == Verdict::refused;
        if (dying || !key_goes_on(settlement, context_.destination)) {
            failed_keys_.insert(envelope.order_key);
        }
        if (passed_over) return;
        if (answer.verdict != Verdict::unanswered) {
            report_.answered = true;
        } else if (!unanswered_) {
            unanswered_ = true;
            report_.error.text = answer.reason;
        }
    }

    void settle() {
        context_.observer.decided(context_.destination, batch_.envelopes, settlements_);
        const auto messages =
            std::count_if(settlements_.begin(), settlements_.end(), [](const auto& s) {
                return s.fate != Fate::left;
            });
        const bool moves = messages > 0 || batch_.passed;
        report_.outcome = moves ? Outcome::moved : Outcome::idle;
        if (unanswered_) report_.outcome = Outcome::unanswered;
        if (!moves) return;  // the claim is simply given back
        const std::vector<Handled::Name> handled = handled_names();
        const MonoTime start = context_.clock.now();
        const Result<void> settled = store_.settle(std::move(batch_), settlements_);
        if (!settled) {
            if (!handled.empty()) context_.handled->add(handled, context_.clock.now());
            fail(Stage::settle, settled.error());
            return;
        }
        if (!handled.empty()) context_.handled->remove(handled);
        const Duration took = context_.clock.now() - start;
        report_.store_time += took;
        context_.observer.settled(context_.destination, static_cast<std::uint64_t>(messages), took);
    }

    [[nodiscard]] std::vector<Handled::Name> handled_names() const {
        std::vector<Handled::Name> names;
        if (context_.handled == nullptr) return names;
        for (std::size_t i = 0; i < settlements_.size(); ++i) {
            const bool is_done = settlements_[i].fate == Fate::done;
            if (is_done) names.push_back(Handled::name_of(batch_.envelopes[i]));
        }
        return names;
    }

    bool fail(Stage stage, Error error) {
        context_.observer.faulted(context_.destination, stage, error);
        report_.outcome = Outcome::store_failed;
        report_.error = std::move(error);
        return false;
    }

    Store& store_;
    Broker& broker_;
    const TurnContext& context_;
    const BrokerTraits traits_;
    TurnReport report_;
    Batch batch_;
    MonoTime start_;
    Deadline deadline_;
    std::vector<Settlement> settlements_;
    std::unordered_set<OrderKey> failed_keys_;
    bool unanswered_ = false;
};

}  // namespace

TurnReport make_turn(Store& store, Broker& broker, const TurnContext& context) {
    return Turn(store, broker, context).make();
}

}  // namespace outrider
