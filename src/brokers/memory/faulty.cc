#include "outrider/testing.h"

#include "core/broker.h"
#include "core/delivery.h"

namespace outrider::testing {
namespace {

class FaultyConnection final : public Broker {
public:
    FaultyConnection(std::unique_ptr<Broker> inner, FaultRule rule)
        : inner_(std::move(inner)),
          rule_(std::move(rule)) {}

    // Failing one message and letting the next of its key through is just what a broker that keeps
    // order never does.
    [[nodiscard]] BrokerTraits traits() const override {
        BrokerTraits traits = inner_->traits();
        traits.keeps_order = false;
        traits.keeps_global_order = false;
        traits.keeps_order_keys = false;
        return traits;
    }

    void publish(std::span<const Envelope> envelopes, Deadline deadline, std::span<Answer> answers)
        override {
        std::vector<Fault> faults;
        std::vector<Envelope> passed;
        for (const Envelope& envelope : envelopes) {
            faults.push_back(rule_(delivery_of(envelope)));
            if (goes_through(faults.back())) passed.push_back(envelope);
        }
        std::vector<Answer> inner_answers(passed.size());
        if (!passed.empty()) inner_->publish(passed, deadline, inner_answers);
        std::size_t next = 0;
        for (std::size_t i = 0; i < envelopes.size(); ++i) {
            Answer through;
            if (goes_through(faults[i])) through = inner_answers[next++];
            answers[i] = distort(faults[i], std::move(through));
        }
    }

    [[nodiscard]] Result<void> ping(Deadline deadline) override { return inner_->ping(deadline); }

    [[nodiscard]] Result<BrokerFacts> describe(Deadline deadline) override {
        return inner_->describe(deadline);
    }

    [[nodiscard]] std::string take_statistics() override { return inner_->take_statistics(); }

private:
    static bool goes_through(Fault fault) {
        return fault == Fault::none || fault == Fault::lose_answer;
    }

    static Answer distort(Fault fault, Answer answer) {
        switch (fault) {
            case Fault::none:
                return answer;
            case Fault::refuse:
                return {Verdict::refused, "refused on purpose"};
            case Fault::unacceptable:
                return {Verdict::unacceptable, "unacceptable on purpose"};
            case Fault::lose_message:
                return {Verdict::unanswered, "message lost on purpose"};
            case Fault::lose_answer:
                return {Verdict::unanswered, "answer lost on purpose"};
        }
        return answer;
    }

    std::unique_ptr<Broker> inner_;
    FaultRule rule_;
};

class FaultyDriver final : public BrokerDriver {
public:
    FaultyDriver(std::shared_ptr<BrokerDriver> inner, FaultRule rule)
        : inner_(std::move(inner)),
          rule_(std::move(rule)) {}

    [[nodiscard]] Result<std::unique_ptr<Broker>> open() override {
        Result<std::unique_ptr<Broker>> inner = inner_->open();
        if (!inner) return inner;
        return std::unique_ptr<Broker>(
            std::make_unique<FaultyConnection>(std::move(inner).value(), rule_)
        );
    }

private:
    std::shared_ptr<BrokerDriver> inner_;
    FaultRule rule_;
};

}  // namespace

std::shared_ptr<BrokerDriver> faulty_broker(std::shared_ptr<BrokerDriver> inner, FaultRule rule) {
    return std::make_shared<FaultyDriver>(std::move(inner), std::move(rule));
}

}  // namespace outrider::testing
