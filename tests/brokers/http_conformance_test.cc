#include "brokers/http_fixture.h"
#include "conformance/broker_suite.h"

namespace outrider {
namespace {

using live::http_receiver;
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
            message.topic = decode(value);
        } else if (name == "outrider-key") {
            message.key = decode(value);
        } else if (name == "outrider-type") {
            message.type = decode(value);
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

class HttpHarness final : public BrokerHarness {
public:
    HttpHarness() { http_receiver().forget(); }
    ~HttpHarness() override {
        if (away_) http_receiver().start();
    }
    HttpHarness(const HttpHarness&) = delete;
    HttpHarness& operator=(const HttpHarness&) = delete;

    std::shared_ptr<BrokerDriver> driver() override {
        const std::string place = "http://127.0.0.1:" + std::to_string(http_receiver().port());
        return make_http_broker(*parse_http_url(place + "/hook?allow_private=true"));
    }
    std::vector<Received> received() override {
        std::vector<Received> received;
        for (const auto& one : http_receiver().posted()) received.push_back(to_received(one));
        return received;
    }
    bool take_away() override {
        http_receiver().kill();
        away_ = true;
        return true;
    }
    void bring_back() override {
        http_receiver().start();
        away_ = false;
    }

private:
    bool away_ = false;
};

INSTANTIATE_TEST_SUITE_P(
    Http,
    BrokerSuite,
    ::testing::Values(BrokerParameter{"http", [] { return std::make_unique<HttpHarness>(); }}),
    [](const auto& parameters) { return parameters.param.name; }
);

}  // namespace
}  // namespace outrider
