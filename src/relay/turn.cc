#include "relay/turn.h"

#include <algorithm>
#include <vector>

#include "core/assert.h"
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
          context_(context) {}

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
        const MonoTime start = context_.clock.now();
        // Reckoned from before the claim: a process that was frozen since has lost its lanes.
        deadline_ = start + context_.destination.publish_deadline;
        Result<Batch> claimed = store_.claim(context_.limits);
        if (!claimed) return fail(Stage::claim, std::move(claimed).error());
        batch_ = std::move(claimed).value();
        context_.observer.claimed(context_.destination, batch_, context_.clock.now() - start);
        report_.full = batch_.full;
        if (batch_.next_due) report_.next_due = *batch_.next_due - batch_.now;
        if (batch_.held_elsewhere) report_.outcome = Outcome::held;
        if (batch_.paused) report_.outcome = Outcome::paused;
        return batch_.passed || !batch_.envelopes.empty();
    }

    void publish() {
        const BrokerTraits traits = broker_.traits();
        if (is_plain(traits)) return offer_all();
        Waves waves(batch_, context_.destination, traits);
        while (may_offer()) {
            const std::vector<std::size_t> wave = waves.next(settlements_, context_.dice);
            if (wave.empty()) return;
            const std::size_t size = traits.burst_max == 0 ? wave.size() : traits.burst_max;
            for (std::size_t at = 0; at < wave.size() && may_offer(); at += size) {
                offer(std::span(wave).subspan(at, std::min(size, wave.size() - at)));
            }
        }
    }

    // One burst will do, in the order of the batch, without a copy.
    [[nodiscard]] bool is_plain(const BrokerTraits& traits) const {
        if (!traits.keeps_order || traits.payload_bytes_max + traits.burst_max != 0) return false;
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

    void offer(std::span<const std::size_t> wave) {
        std::vector<Envelope> burst;
        burst.reserve(wave.size());
        for (const std::size_t place : wave) burst.push_back(batch_.envelopes[place]);
        const std::vector<Answer> answers = ask_broker(burst);
        for (std::size_t i = 0; i < wave.size(); ++i) take(wave[i], answers[i]);
    }

    void offer_all() {
        if (batch_.envelopes.empty() || !may_offer()) return;
        const std::vector<Answer> answers = ask_broker(batch_.envelopes);
        for (std::size_t i = 0; i < answers.size(); ++i) take(i, answers[i]);
    }

    std::vector<Answer> ask_broker(std::span<const Envelope> burst) {
        std::vector<Answer> answers(burst.size());
        const MonoTime start = context_.clock.now();
        broker_.publish(burst, deadline_, answers);
        context_.observer.published(
            context_.destination, burst, answers, context_.clock.now() - start
        );
        return answers;
    }

    void take(std::size_t place, const Answer& answer) {
        settlements_[place] = decide(
            batch_.envelopes[place], answer, context_.destination, batch_.now, context_.dice
        );
        if (answer.verdict != Verdict::unanswered) {
            report_.answered = true;
        } else if (!unanswered_) {
            unanswered_ = true;
            report_.error.text = answer.reason;
        }
    }

    void settle() {
        context_.observer.decided(context_.destination, batch_, settlements_);
        const auto messages =
            std::count_if(settlements_.begin(), settlements_.end(), [](const auto& s) {
                return s.fate != Fate::left;
            });
        const bool moves = messages > 0 || batch_.passed;
        report_.outcome = moves ? Outcome::moved : Outcome::idle;
        if (unanswered_) report_.outcome = Outcome::unanswered;
        if (!moves) return;  // the claim is simply given back
        const MonoTime start = context_.clock.now();
        const Result<void> settled = store_.settle(std::move(batch_), settlements_);
        if (!settled) {
            fail(Stage::settle, settled.error());
            return;
        }
        context_.observer.settled(
            context_.destination, static_cast<std::uint64_t>(messages), context_.clock.now() - start
        );
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
    TurnReport report_;
    Batch batch_;
    Deadline deadline_;
    std::vector<Settlement> settlements_;
    bool unanswered_ = false;
};

}  // namespace

TurnReport make_turn(Store& store, Broker& broker, const TurnContext& context) {
    return Turn(store, broker, context).make();
}

}  // namespace outrider
