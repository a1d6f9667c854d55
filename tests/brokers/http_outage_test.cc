#include <gtest/gtest.h>

#include "brokers/http/broker.h"
#include "brokers/http_fixture.h"
#include "brokers/support/messages.h"

namespace outrider::live {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Otherwise one hiccup would stop the destination for ever: no message is posted before a ping.
TEST_F(Http, PassesAPingWhereOptionsIsNotKnown) {
    const auto broker = open_at("no-options/closed");
    const Result<void> there = broker->ping(in(seconds(20)));
    EXPECT_TRUE(there) << there.error().text;
    expect_all(publish(*broker, one()));
    EXPECT_TRUE(broker->ping(in(seconds(20))));
    const Result<BrokerFacts> facts = broker->describe(in(seconds(20)));
    ASSERT_FALSE(facts);
    EXPECT_NE(facts.error().text.find("no answer to OPTIONS"), std::string::npos)
        << facts.error().text;
}

// A receiver that has stopped finds what was posted meanwhile when it goes on, so less is tried.
TEST_F(Http, PassesEverySecondPingWhereOptionsHasNoAnswer) {
    const auto broker = open_at("no-options/silent?timeout=300ms");
    for (int i = 0; i < 2; ++i) {
        EXPECT_FALSE(broker->ping(in(seconds(20))));
        EXPECT_TRUE(broker->ping(in(seconds(20))));
    }
    // Also where the deadline is what ends it.
    const auto patient = open_at("no-options/silent");
    EXPECT_FALSE(patient->ping(in(milliseconds(300))));
    EXPECT_TRUE(patient->ping(in(milliseconds(300))));
}

TEST_F(Http, PassesNoPingWithoutAConnection) {
    const Certificates good("IP:127.0.0.1");
    const Certificates other("IP:127.0.0.1");
    const HttpReceiver receiver(&good);
    const std::string secured = "https://127.0.0.1:" + std::to_string(receiver.port());
    const auto stranger = open(secured + "/?allow_private=true&tls_ca=" + other.authority());
    const auto plain = open("https://" + place() + "/?allow_private=true");
    for (int i = 0; i < 2; ++i) {
        EXPECT_FALSE(stranger->ping(in(seconds(20))));
        EXPECT_FALSE(plain->ping(in(seconds(20))));
    }
}

// One that was used before proves nothing once the receiver is gone.
TEST_F(Http, PassesNoPingOverAConnectionOfThePast) {
    const auto broker = open_at("no-options/closed");
    expect_all(publish(*broker, one()));
    http_receiver().kill();
    EXPECT_FALSE(broker->ping(in(seconds(20))));
    EXPECT_FALSE(broker->ping(in(seconds(20))));
    http_receiver().start();
    EXPECT_TRUE(broker->ping(in(seconds(20))));
}

}  // namespace
}  // namespace outrider::live
