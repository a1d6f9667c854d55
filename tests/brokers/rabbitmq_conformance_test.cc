#include <thread>

#include "brokers/rabbitmq/broker.h"
#include "brokers/support/rabbitmq_server.h"
#include "conformance/relay_world.h"
#include "conformance/server_harness.h"
#include "support/environment.h"

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

class RabbitmqHarness final : public ServerHarness<live::RabbitmqServer> {
public:
    RabbitmqHarness() : ServerHarness(rabbitmq_server()) {
        live::RabbitmqClient client(rabbitmq_server().port());
        client.remove("suite");
        client.declare("suite");
        client.bind("suite", "amq.topic", "#");
    }
    std::shared_ptr<BrokerDriver> driver_at(std::uint16_t port) override {
        return make_rabbitmq_broker(*parse_rabbitmq_url("amqp://127.0.0.1:" + std::to_string(port))
        );
    }
    std::vector<Received> received() override {
        std::vector<Received> received;
        for (const auto& one : live::RabbitmqClient(rabbitmq_server().port()).fetch("suite")) {
            received.push_back(to_received(one));
        }
        return received;
    }
};

// ALARM_SECONDS: how long the server has no memory.
TEST(RabbitmqRelay, WaitsOutAMemoryAlarm) {
    RabbitmqHarness harness;
    live::RelayWorld world(harness.driver());
    world.write(200);
    world.await_acknowledged(20);
    const std::size_t before = world.listener().unanswered();
    rabbitmq_server().control({"set_vm_memory_high_watermark", "0"});
    world.write(100);
    world.await_unanswered(before);
    std::this_thread::sleep_for(std::chrono::seconds(number_from("ALARM_SECONDS", 2)));
    rabbitmq_server().control({"set_vm_memory_high_watermark", "0.4"});
    world.write(50);
    world.finish();
    EXPECT_EQ(world.listener().refused(), 0U);  // an outage costs nobody a try
    world.expect_everything(harness.received());
}

TEST(RabbitmqRelay, WaitsWhileItsQueueIsUnbound) {
    RabbitmqHarness harness;
    live::RelayWorld world(harness.driver());
    world.write(200);
    world.await_acknowledged(20);
    live::RabbitmqClient client(rabbitmq_server().port());
    client.unbind("suite", "amq.topic", "#");
    world.write(100);
    world.await_refused(0);
    client.bind("suite", "amq.topic", "#");
    world.write(50);
    world.finish();
    world.expect_everything(harness.received());
}

INSTANTIATE_NETWORK_BROKER(rabbitmq, RabbitmqHarness);

}  // namespace
}  // namespace outrider
