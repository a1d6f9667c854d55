#include "brokers/rabbitmq/broker.h"
#include "brokers/support/rabbitmq_server.h"
#include "conformance/broker_suite.h"

namespace outrider {
namespace {

using live::rabbitmq_server;
using testing::Received;

Received to_received(const live::Fetched& fetched) {
    Received message;
    message.payload = fetched.payload;
    message.content_type = fetched.content_type;
    for (const auto& [name, value] : fetched.headers) {
        if (name == "outrider-id") {
            message.id = *MessageId::parse(value);
        } else if (name == "outrider-topic") {
            message.topic = value;
        } else if (name == "outrider-key") {
            message.key = value;
        } else if (name == "outrider-type") {
            message.type = value;
        } else if (name == "outrider-occurred-at") {
            EXPECT_EQ(value, "2023-11-14T22:13:20.123Z");
        } else {
            message.headers.push_back({name, value});
        }
    }
    EXPECT_EQ(fetched.message_id, message.id.to_string());
    EXPECT_EQ(fetched.type, message.type);
    EXPECT_EQ(fetched.delivery_mode, 2);
    EXPECT_EQ(fetched.timestamp, 1'700'000'000U);
    return message;
}

class RabbitmqHarness final : public BrokerHarness {
public:
    RabbitmqHarness() {
        live::RabbitmqClient client(rabbitmq_server().port());
        client.declare("suite");
        client.bind("suite", "amq.topic", "#");
    }
    ~RabbitmqHarness() override {
        if (away_) rabbitmq_server().start();
        live::RabbitmqClient(rabbitmq_server().port()).remove("suite");
    }
    RabbitmqHarness(const RabbitmqHarness&) = delete;
    RabbitmqHarness& operator=(const RabbitmqHarness&) = delete;

    std::shared_ptr<BrokerDriver> driver() override {
        return make_rabbitmq_broker(*parse_rabbitmq_url(rabbitmq_server().url()));
    }
    std::vector<Received> received() override {
        std::vector<Received> received;
        for (const auto& one : live::RabbitmqClient(rabbitmq_server().port()).fetch("suite")) {
            received.push_back(to_received(one));
        }
        return received;
    }
    bool take_away() override {
        rabbitmq_server().kill();
        away_ = true;
        return true;
    }
    void bring_back() override {
        rabbitmq_server().start();
        away_ = false;
    }

private:
    bool away_ = false;
};

INSTANTIATE_TEST_SUITE_P(
    Rabbitmq,
    BrokerSuite,
    ::testing::Values(BrokerParameter{
        "rabbitmq",
        [] { return std::make_unique<RabbitmqHarness>(); }}),
    [](const auto& parameters) { return parameters.param.name; }
);

}  // namespace
}  // namespace outrider
