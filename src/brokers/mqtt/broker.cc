#include "brokers/mqtt/broker.h"

#include "outrider/brokers.h"

#include "brokers/mqtt/connection.h"
#include "brokers/mqtt/flight.h"
#include "brokers/mqtt/topic.h"
#include "brokers/mqtt/writer.h"
#include "brokers/wire/answers.h"
#include "brokers/wire/driver.h"

namespace outrider {
namespace mqtt {
namespace {

// The protocol does not tell whether the server keeps anything on disk.
std::string durability_of(const MqttOptions& options) {
    std::string text = "the server has taken it";
    if (options.retain) {
        text += " and keeps the last one of each topic";
    } else if (options.no_subscribers == NoSubscribers::refused) {
        text += ", and somebody had subscribed";
    } else {
        text += "; if nobody had subscribed it is gone";
    }
    return text + "; in memory, and on disk only if and when the server is set to write";
}

class MqttBroker final : public Broker {
public:
    MqttBroker(const MqttOptions& options, wire::Target target)
        : options_(options),
          writer_(options, std::move(target)) {}

    // A server may refuse one message (not permitted, over quota) and take the next.
    [[nodiscard]] BrokerTraits traits() const override { return {.keeps_order = false}; }

    void publish(std::span<const Envelope> envelopes, Deadline deadline, std::span<Answer> answers)
        override {
        if (envelopes.empty()) return;
        const Result<void> done = offer(envelopes, deadline, answers);
        if (done) return;
        connection_.reset();
        wire::explain(answers, done.error().text);
    }

    [[nodiscard]] Result<void> ping(Deadline deadline) override {
        if (Result<void> ready = connect(deadline); !ready) return ready;
        Result<void> answer = connection_->ask(deadline);
        if (!answer) connection_.reset();
        return answer;
    }

    [[nodiscard]] Result<BrokerFacts> describe(Deadline deadline) override {
        if (Result<void> there = ping(deadline); !there) return there.error();
        const std::string window = std::to_string(connection_->window());
        const Result<std::string> name = connection_->name(deadline);
        if (!name) connection_.reset();
        const std::string server = name && !name->empty() ? *name : "a server without a name";
        return BrokerFacts{
            server + ", MQTT 5, takes " + window + " messages at once", durability_of(options_)};
    }

private:
    Result<void> connect(Deadline deadline) {
        if (connection_ && !connection_->is_stale()) return {};
        connection_.reset();
        Result<std::unique_ptr<Connection>> opened = Connection::open(options_, deadline);
        if (!opened) return opened.error();
        connection_ = std::move(opened).value();
        return {};
    }

    Result<void> offer(
        std::span<const Envelope> envelopes,
        Deadline deadline,
        std::span<Answer> answers
    ) {
        bool one_by_one = false;
        while (true) {
            if (Result<void> ready = connect(deadline); !ready) return ready;
            Flight flight(
                {*connection_, writer_, options_, envelopes, answers, deadline, one_by_one}
            );
            Result<void> made = flight.make();
            // Each round settles a message at least, so there is an end.
            if (made || !flight.had_answer()) return made;
            connection_.reset();
            // The server may have hung up because of a message whose refusal was lost with the
            // connection: alone it cannot be.
            one_by_one = !flight.had_refusal();
        }
    }

    const MqttOptions options_;
    Writer writer_;
    std::unique_ptr<Connection> connection_;
};

Result<std::unique_ptr<Broker>> open(const MqttOptions& options) {
    Result<wire::Target> target = parse_target(options.wire.target);
    if (!target) return target.error();
    return std::unique_ptr<Broker>(std::make_unique<MqttBroker>(options, std::move(target).value())
    );
}

}  // namespace
}  // namespace mqtt

std::shared_ptr<BrokerDriver> make_mqtt_broker(const MqttOptions& options) {
    return wire::make_driver([options] { return mqtt::open(options); });
}

std::shared_ptr<BrokerDriver> mqtt_broker(std::string_view url) {
    return wire::driver_of<parse_mqtt_url, make_mqtt_broker>(url);
}

}  // namespace outrider
