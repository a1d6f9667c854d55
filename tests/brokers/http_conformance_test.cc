#include "brokers/http_fixture.h"
#include "brokers/support/percent.h"
#include "conformance/server_harness.h"

namespace outrider {
namespace {

using live::http_receiver;
using live::percent_decode;
using testing::Received;

// What HTTP itself adds to every request.
bool is_of_the_request(const std::string& name) {
    for (const char* one : {"Host", "User-Agent", "Accept", "Content-Length", "Idempotency-Key"}) {
        if (name == one) return true;
    }
    return false;
}

Received to_received(const live::Posted& posted) {
    Received message;
    message.payload = posted.body;
    for (const auto& [name, value] : posted.headers) {
        if (name == "outrider-id") {
            message.id = *MessageId::parse(value);
        } else if (name == "outrider-topic") {
            message.topic = percent_decode(value);
        } else if (name == "outrider-key") {
            message.key = percent_decode(value);
        } else if (name == "outrider-type") {
            message.type = percent_decode(value);
        } else if (name == "Content-Type") {
            message.content_type = value;
        } else if (name == "outrider-occurred-at") {
            EXPECT_EQ(value, "2023-11-14T22:13:20.123Z");
        } else if (!is_of_the_request(name)) {
            message.headers.push_back({name, value});
        }
    }
    EXPECT_EQ(posted.header("Idempotency-Key"), message.id.to_string());
    return message;
}

class HttpHarness final : public ServerHarness<live::HttpReceiver> {
public:
    HttpHarness() : ServerHarness(http_receiver()) { http_receiver().forget(); }

    std::shared_ptr<BrokerDriver> driver_at(std::uint16_t port) override {
        const std::string place = "http://127.0.0.1:" + std::to_string(port);
        return make_http_broker(*parse_http_url(place + "/hook?allow_private=true"));
    }
    std::vector<Received> received() override {
        std::vector<Received> received;
        for (const auto& one : http_receiver().posted()) received.push_back(to_received(one));
        return received;
    }
};

INSTANTIATE_NETWORK_BROKER(http, HttpHarness);

}  // namespace
}  // namespace outrider
