#include "core/broker.h"

#include "outrider/brokers.h"

namespace outrider {
namespace {

class NullConnection final : public Broker {
public:
    [[nodiscard]] BrokerTraits traits() const override {
        return {.keeps_order = true, .keeps_global_order = true};
    }

    void publish(
        std::span<const Envelope> /*envelopes*/,
        Deadline /*deadline*/,
        std::span<Answer> answers
    ) override {
        for (Answer& answer : answers) answer.verdict = Verdict::acknowledged;
    }

    [[nodiscard]] Result<void> ping(Deadline /*deadline*/) override { return {}; }

    [[nodiscard]] Result<BrokerFacts> describe(Deadline /*deadline*/) override {
        return BrokerFacts{"nobody", "none: every message is thrown away"};
    }
};

class NullDriver final : public BrokerDriver {
public:
    [[nodiscard]] Result<std::unique_ptr<Broker>> open() override {
        return std::unique_ptr<Broker>(std::make_unique<NullConnection>());
    }
};

}  // namespace

std::shared_ptr<BrokerDriver> null_broker() {
    return std::make_shared<NullDriver>();
}

}  // namespace outrider
