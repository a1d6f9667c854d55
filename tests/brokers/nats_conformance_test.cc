#include <algorithm>

#include "brokers/nats/broker.h"
#include "brokers/support/nats_server.h"
#include "brokers/support/percent.h"
#include "conformance/relay_world.h"
#include "conformance/server_harness.h"

namespace outrider {
namespace {

using live::nats_server;
using live::percent_decode;
using testing::Received;

std::string field(natsMsg* message, const std::string& name) {
    const char* value = nullptr;
    if (natsMsgHeader_Get(message, name.c_str(), &value) != NATS_OK) return {};
    return percent_decode(value);
}

std::vector<Header> own_headers(natsMsg* message) {
    const char** names = nullptr;
    int count = 0;
    natsMsgHeader_Keys(message, &names, &count);
    std::vector<Header> headers;
    for (int i = 0; i < count; ++i) {
        const std::string name = names[i];
        if (name.starts_with("outrider-") || name == "content-type") continue;
        headers.push_back({name, live::header(message, name)});
    }
    std::free(names);
    // The protocol does not keep their order.
    std::sort(headers.begin(), headers.end(), [](const auto& a, const auto& b) {
        return a.name < b.name;
    });
    return headers;
}

class NatsHarness final : public ServerHarness<live::NatsServer> {
public:
    NatsHarness() : ServerHarness(nats_server()) {
        const live::NatsClient client(nats_server().url());
        client.delete_streams();
        client.add_stream("SUITE", "suite.>");
    }

    // The suite publishes the same ids again and counts them, so the server must not drop them.
    std::shared_ptr<BrokerDriver> driver_at(std::uint16_t port) override {
        const std::string place = "nats://127.0.0.1:" + std::to_string(port);
        return make_nats_broker(*parse_nats_url(place + "?target=suite.{topic}&deduplicate=false"));
    }
    std::vector<Received> received() override {
        std::vector<Received> received;
        for (const auto& one : live::NatsClient(nats_server().url()).read("SUITE")) {
            natsMsg* message = one.get();
            received.push_back(
                {*MessageId::parse(field(message, "outrider-id")),
                 field(message, "outrider-topic"),
                 field(message, "outrider-key"),
                 field(message, "outrider-type"),
                 field(message, "content-type"),
                 live::payload(one),
                 own_headers(message)}
            );
            EXPECT_EQ(field(message, "outrider-occurred-at"), "2023-11-14T22:13:20.123Z");
        }
        return received;
    }
};

TEST(NatsRelay, WaitsForAStreamThatIsMissing) {
    NatsHarness harness;
    const live::NatsClient client(nats_server().url());
    client.delete_streams();
    live::RelayWorld world(harness.driver());
    world.write(100);
    world.await_refused(0);
    client.add_stream("SUITE", "suite.>");
    world.write(50);
    world.finish();
    world.expect_everything(harness.received());
}

INSTANTIATE_NETWORK_BROKER(nats, NatsHarness);

}  // namespace
}  // namespace outrider
