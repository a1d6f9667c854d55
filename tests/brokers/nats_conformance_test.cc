#include <algorithm>

#include "brokers/nats/broker.h"
#include "brokers/support/nats_server.h"
#include "conformance/broker_suite.h"

namespace outrider {
namespace {

using live::nats_server;
using testing::Received;

// The usual reading of %XX.
std::string decode(const std::string& text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            plain += text[i];
            continue;
        }
        plain += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
        i += 2;
    }
    return plain;
}

std::string field(natsMsg* message, const std::string& name) {
    const char* value = nullptr;
    if (natsMsgHeader_Get(message, name.c_str(), &value) != NATS_OK) return {};
    return decode(value);
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

class NatsHarness final : public BrokerHarness {
public:
    NatsHarness() {
        const live::NatsClient client(nats_server().url());
        client.delete_streams();
        client.add_stream("SUITE", "suite.>");
    }
    ~NatsHarness() override {
        if (away_) nats_server().start();
    }
    NatsHarness(const NatsHarness&) = delete;
    NatsHarness& operator=(const NatsHarness&) = delete;

    // The suite publishes the same ids again and counts them, so the server must not drop them.
    std::shared_ptr<BrokerDriver> driver() override {
        return make_nats_broker(
            *parse_nats_url(nats_server().url() + "?target=suite.{topic}&deduplicate=false")
        );
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
    bool take_away() override {
        nats_server().kill();
        away_ = true;
        return true;
    }
    void bring_back() override {
        nats_server().start();
        away_ = false;
    }

private:
    bool away_ = false;
};

INSTANTIATE_TEST_SUITE_P(
    Nats,
    BrokerSuite,
    ::testing::Values(BrokerParameter{"nats", [] { return std::make_unique<NatsHarness>(); }}),
    [](const auto& parameters) { return parameters.param.name; }
);

}  // namespace
}  // namespace outrider
