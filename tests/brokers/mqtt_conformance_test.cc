#include "brokers/mqtt/broker.h"
#include "brokers/support/mosquitto_server.h"
#include "brokers/support/percent.h"
#include "conformance/server_harness.h"
#include "core/clock.h"

namespace outrider {
namespace {

using live::mosquitto_server;
using live::percent_decode;
using testing::Received;

Received to_received(const live::Heard& heard) {
    Received message;
    message.payload = heard.payload;
    message.content_type = heard.content_type;
    for (const auto& [name, value] : heard.headers) {
        if (name == "outrider-id") {
            message.id = *MessageId::parse(value);
        } else if (name == "outrider-topic") {
            message.topic = percent_decode(value);
        } else if (name == "outrider-key") {
            message.key = percent_decode(value);
        } else if (name == "outrider-type") {
            message.type = percent_decode(value);
        } else if (name == "outrider-occurred-at") {
            EXPECT_EQ(value, "2023-11-14T22:13:20.123Z");
        } else {
            message.headers.push_back({name, value});
        }
    }
    return message;
}

class MqttHarness final : public ServerHarness<live::MosquittoServer> {
public:
    // The reader takes all there is at once, so that the server holds nothing back for it; and its
    // session is on the server's disk before anything happens to the server.
    MqttHarness()
        : ServerHarness(mosquitto_server()),
          reader_(
              mosquitto_server(),
              "#",
              {"-c", "-x", "3600", "-D", "connect", "receive-maximum", "65535"}
          ) {
        mosquitto_server().save();
    }

    std::shared_ptr<BrokerDriver> driver_at(std::uint16_t port) override {
        return make_mqtt_broker(*parse_mqtt_url("mqtt://127.0.0.1:" + std::to_string(port)));
    }
    void await_reader() override { reader_.await_return(); }

    // What mosquitto has acknowledged is nowhere but in its memory and in a socket until the reader
    // has it. Killed before that it loses messages, and that is nothing a relay could know. Frozen,
    // it acknowledges nothing more while the reader catches up.
    void take_away() override {
        EXPECT_TRUE(live::wait_until([this] {
            server().freeze();
            if (live::wait_until([this] { return reader_.is_abreast(); }, kGlance)) return true;
            server().thaw();
            return false;
        }));
        ServerHarness::take_away();
    }

    // mosquitto acknowledges before the reader has written everything down: one more message tells
    // when it has.
    std::vector<Received> received() override {
        const std::string mark = "end " + std::to_string(++marks_);
        const auto broker = std::move(driver()->open()).value();
        std::vector<Answer> answers(1);
        Envelope envelope;
        envelope.id = MessageId::generate();
        envelope.topic = "mark";
        envelope.payload = mark;
        broker->publish({&envelope, 1}, SystemClock().now() + std::chrono::seconds(30), answers);
        EXPECT_EQ(answers[0].verdict, Verdict::acknowledged) << answers[0].reason;
        std::vector<Received> received;
        EXPECT_TRUE(live::wait_until([&] {
            received.clear();
            for (const auto& one : reader_.heard()) {
                if (one.topic == "mark") {
                    if (one.payload == mark) return true;
                } else {
                    received.push_back(to_received(one));
                }
            }
            return false;
        }));
        return received;
    }

private:
    static constexpr auto kGlance = std::chrono::seconds(1);

    live::MosquittoSub reader_;
    int marks_ = 0;
};

INSTANTIATE_NETWORK_BROKER(mqtt, MqttHarness);

}  // namespace
}  // namespace outrider
