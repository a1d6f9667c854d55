#include "brokers/kafka/broker.h"

#include "outrider/brokers.h"

#include "brokers/kafka/burst.h"
#include "brokers/kafka/facts.h"
#include "brokers/wire/driver.h"

namespace outrider {
namespace kafka {
namespace {

class KafkaBroker final : public Broker {
public:
    KafkaBroker(const KafkaOptions& options, wire::Target target)
        : options_(options),
          keeps_order_(!target.uses_type()),
          writer_(options, std::move(target)) {}

    // See Burst for why order holds. Where the type chooses the topic a key may go to several of
    // them, and one does not wait for the other.
    [[nodiscard]] BrokerTraits traits() const override { return {.keeps_order = keeps_order_}; }

    void publish(std::span<const Envelope> envelopes, Deadline deadline, std::span<Answer> answers)
        override {
        if (envelopes.empty()) return;
        look_after_client();
        Burst burst({clients_, writer_, options_, envelopes, answers, deadline});
        const Result<void> made = burst.make();
        clients_.alone.reset();
        burst.leave(made ? std::string_view() : std::string_view(made.error().text));
    }

    [[nodiscard]] Result<BrokerFacts> describe(Deadline deadline) override {
        if (Result<void> there = ping(deadline); !there) return there.error();
        return describe_cluster(*clients_.together, deadline);
    }

    [[nodiscard]] Result<void> ping(Deadline deadline) override {
        look_after_client();
        if (!clients_.together) {
            Result<std::unique_ptr<Client>> opened =
                Client::open(options_, Mode::together, clients_.batch_bytes, deadline);
            if (!opened) return opened.error();
            clients_.together = std::move(opened).value();
        }
        Result<void> answer = clients_.together->connect(deadline);
        if (!answer) clients_.together.reset();
        return answer;
    }

    [[nodiscard]] std::string take_statistics() override {
        return clients_.together ? clients_.together->take_statistics() : std::string();
    }

private:
    // Whose link broke while nothing was to do would wait for its own back-off, and say nothing.
    void look_after_client() {
        if (!clients_.together) return;
        while (clients_.together->poll({})) {
        }
        if (clients_.together->is_down() || clients_.together->is_fatal()) {
            clients_.together.reset();
        }
    }

    const KafkaOptions options_;
    const bool keeps_order_;
    Writer writer_;
    Clients clients_;
};

Result<std::unique_ptr<Broker>> open(const KafkaOptions& options) {
    Result<wire::Target> target = parse_target(options.wire.target);
    if (!target) return target.error();
    return std::unique_ptr<Broker>(std::make_unique<KafkaBroker>(options, std::move(target).value())
    );
}

}  // namespace
}  // namespace kafka

std::shared_ptr<BrokerDriver> make_kafka_broker(const KafkaOptions& options) {
    return wire::make_driver([options] { return kafka::open(options); });
}

std::shared_ptr<BrokerDriver> kafka_broker(std::string_view url) {
    return wire::driver_of<parse_kafka_url, make_kafka_broker>(url);
}

}  // namespace outrider
