#include "brokers/kafka/broker.h"
#include "brokers/support/kafka_server.h"
#include "conformance/broker_suite.h"

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
class KafkaHarness final : public BrokerHarness {
public:
    KafkaHarness() : topic_("suite-" + MessageId::generate().to_string()) {
        KafkaAdmin(kafka_server().address()).create_topic(topic_, 1);
    }
    ~KafkaHarness() override {
        if (away_) kafka_server().start();
    }
    KafkaHarness(const KafkaHarness&) = delete;
    KafkaHarness& operator=(const KafkaHarness&) = delete;

    std::shared_ptr<BrokerDriver> driver() override {
        return make_kafka_broker(*parse_kafka_url(kafka_server().url() + "?target=" + topic_));
    }
    std::vector<Received> received() override {
        std::vector<Received> received;
        for (const auto& record : live::read_topic(kafka_server().address(), topic_)) {
            received.push_back(to_received(record));
        }
        return received;
    }
    void take_away() override {
        kafka_server().kill();
        away_ = true;
    }
    void bring_back() override {
        kafka_server().start();
        away_ = false;
    }

private:
    const std::string topic_;
    bool away_ = false;
};

INSTANTIATE_TEST_SUITE_P(
    Kafka,
    BrokerSuite,
    ::testing::Values(BrokerParameter{"kafka", [] { return std::make_unique<KafkaHarness>(); }}),
    [](const auto& parameters) { return parameters.param.name; }
);

INSTANTIATE_TEST_SUITE_P(
    Kafka,
    AwaySuite,
    ::testing::Values(BrokerParameter{"kafka", [] { return std::make_unique<KafkaHarness>(); }}),
    [](const auto& parameters) { return parameters.param.name; }
);

}  // namespace
}  // namespace outrider
