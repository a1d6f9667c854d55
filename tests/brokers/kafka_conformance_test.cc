#include "brokers/kafka/broker.h"
#include "brokers/support/kafka_server.h"
#include "conformance/relay_world.h"
#include "conformance/server_harness.h"

namespace outrider {
namespace {

using live::kafka_server;
using live::KafkaAdmin;
using testing::Received;

Received to_received(const live::KafkaRecord& record) {
    Received message;
    const std::map<std::string, std::string*> ours = {
        {"outrider-topic", &message.topic},
        {"outrider-key", &message.key},
        {"outrider-type", &message.type},
        {"content-type", &message.content_type}};
    message.payload = record.payload;
    for (const auto& [name, value] : record.headers) {
        if (name == "outrider-id") {
            message.id = *MessageId::parse(value);
        } else if (ours.contains(name)) {
            *ours.at(name) = value;
        } else if (name == "outrider-occurred-at") {
            EXPECT_EQ(value, "2023-11-14T22:13:20.123Z");
        } else {
            message.headers.push_back({name, value});
        }
    }
    EXPECT_EQ(record.key, message.key);
    return message;
}

// Every test has a topic of its own with one partition, since the suite reads in order.
class KafkaHarness final : public ServerHarness<live::KafkaServer> {
public:
    KafkaHarness()
        : ServerHarness(kafka_server()),
          topic_("suite-" + MessageId::generate().to_string()) {
        KafkaAdmin(kafka_server().address()).create_topic(topic_, 1);
    }

    // Clients come back to where the server says that it is: behind the gate.
    [[nodiscard]] std::uint16_t port() const override { return server().gated_port(); }
    [[nodiscard]] std::uint16_t gate_port() const override { return server().gate_port(); }

    std::shared_ptr<BrokerDriver> driver() override { return driver_at(server().port()); }
    std::shared_ptr<BrokerDriver> driver_at(std::uint16_t port) override {
        return driver_with(port, {});
    }

    // `parameters`: further ones of the URL.
    [[nodiscard]] std::shared_ptr<BrokerDriver> driver_with(
        std::uint16_t port,
        const std::string& parameters
    ) const {
        const std::string place = "kafka://127.0.0.1:" + std::to_string(port);
        return make_kafka_broker(*parse_kafka_url(place + "?target=" + topic_ + parameters));
    }
    std::vector<Received> received() override {
        std::vector<Received> received;
        for (const auto& record : live::read_topic(server().address(), topic_)) {
            received.push_back(to_received(record));
        }
        return received;
    }

private:
    const std::string topic_;
};

TEST(KafkaRelay, TellsWhatTheLibraryCounts) {
    KafkaHarness harness;
    live::RelayWorld quiet(harness.driver());
    live::RelayWorld world(harness.driver_with(kafka_server().port(), "&statistics=100ms"));
    EXPECT_TRUE(live::wait_until([&] {
        quiet.write(1);
        world.write(1);
        return world.listener().statistics().find("\"txmsgs\":") != std::string::npos;
    }));
    EXPECT_EQ(quiet.listener().statistics(), "");
}

INSTANTIATE_NETWORK_BROKER(kafka, KafkaHarness);

}  // namespace
}  // namespace outrider
