#include "core/broker.h"

#include <exception>

#include "outrider/brokers.h"

#include "core/delivery.h"

namespace outrider {
namespace {

class HandlerConnection final : public Broker {
public:
    explicit HandlerConnection(Handler handler) : handler_(std::move(handler)) {}

    // One call after the other: a handler may take its time, and a stop should not wait for a whole
    // batch.
    [[nodiscard]] BrokerTraits traits() const override {
        return {.burst_max = 1, .in_process = true};
    }

    void publish(
        std::span<const Envelope> envelopes,
        Deadline /*deadline*/,
        std::span<Answer> answers
    ) override {
        for (std::size_t i = 0; i < envelopes.size(); ++i) answers[i] = call(envelopes[i]);
    }

    [[nodiscard]] Result<void> ping(Deadline /*deadline*/) override { return {}; }

    [[nodiscard]] Result<BrokerFacts> describe(Deadline /*deadline*/) override {
        return BrokerFacts{"a function of this process", "it has returned without throwing"};
    }

private:
    Answer call(const Envelope& envelope) {
        try {
            handler_(delivery_of(envelope));
            return {Verdict::acknowledged, {}};
        } catch (const std::exception& exception) {
            return {Verdict::refused, exception.what()};
        } catch (...) {
            return {Verdict::refused, "the handler threw something that is no std::exception"};
        }
    }

    Handler handler_;
};

class HandlerDriver final : public BrokerDriver {
public:
    explicit HandlerDriver(Handler handler) : handler_(std::move(handler)) {}

    [[nodiscard]] Result<std::unique_ptr<Broker>> open() override {
        return std::unique_ptr<Broker>(std::make_unique<HandlerConnection>(handler_));
    }

private:
    Handler handler_;
};

}  // namespace

std::shared_ptr<BrokerDriver> handler_broker(Handler handler) {
    return std::make_shared<HandlerDriver>(std::move(handler));
}

}  // namespace outrider
