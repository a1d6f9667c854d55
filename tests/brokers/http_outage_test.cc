#include <gtest/gtest.h>

#include "brokers/http/broker.h"
#include "brokers/http_fixture.h"
#include "brokers/support/messages.h"

namespace outrider::live {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class HttpOutage : public Http {
protected:
    static std::unique_ptr<Broker> open_many() {
        return open_at("?target=status/{topic}%3Fretry_after=7");
    }

    // One message for each of these statuses.
    static std::vector<Answer> post_to(Broker& broker, const std::vector<const char*>& statuses) {
        Messages messages;
        for (const char* status : statuses) messages.add(status, status, "x");
        return publish(broker, messages);
    }
};

// Otherwise one hiccup would stop the destination for ever: no message is posted before a ping.
TEST_F(HttpOutage, PassesAPingWhereOptionsIsNotKnown) {
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

// A gateway that answers so to everything costs nobody a try, so a message may show.
TEST_F(HttpOutage, PassesAPingThatAGatewayAnswers) {
    const auto broker = open_at("no-options/503");
    EXPECT_TRUE(broker->ping(in(seconds(20))));
    expect_all(publish(*broker, one()));
    const Result<BrokerFacts> facts = broker->describe(in(seconds(20)));
    ASSERT_FALSE(facts);
    EXPECT_NE(facts.error().text.find("it said 503"), std::string::npos) << facts.error().text;
}

// A receiver that has stopped finds what was posted meanwhile when it goes on, so less is tried.
TEST_F(HttpOutage, PassesEverySecondPingWhereOptionsHasNoAnswer) {
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

TEST_F(HttpOutage, PassesNoPingWithoutAConnection) {
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
TEST_F(HttpOutage, PassesNoPingOverAConnectionOfThePast) {
    const auto broker = open_at("no-options/closed");
    expect_all(publish(*broker, one()));
    http_receiver().kill();
    EXPECT_FALSE(broker->ping(in(seconds(20))));
    EXPECT_FALSE(broker->ping(in(seconds(20))));
    http_receiver().start();
    EXPECT_TRUE(broker->ping(in(seconds(20))));
}

// Down, or it has locked us out.
TEST_F(HttpOutage, ChargesNobodyWhereEverythingIsTurnedAway) {
    for (const std::string status : {"401", "407", "502", "503", "504"}) {
        const auto broker = open_at("?target=status/" + status + "%3Fretry_after=7");
        const std::vector<Answer> answers = post_to(*broker, {"a", "b", "c"});
        expect_outage(answers, "the receiver said " + status);
        EXPECT_FALSE(answers[0].retry_after);
    }
    expect_outage(post_to(*open_many(), {"401", "503", "504"}), "the receiver said");
}

TEST_F(HttpOutage, RefusesWhatIsTurnedAwayWhileOthersAreNot) {
    for (const char* other : {"200", "400", "429", "500"}) {
        const std::vector<Answer> answers = post_to(*open_many(), {"503", other, "401"});
        for (const std::size_t place : {0U, 2U}) {
            EXPECT_EQ(answers[place].verdict, Verdict::refused) << other;
            EXPECT_EQ(answers[place].retry_after, seconds(7)) << other;
        }
    }
}

// Behind a gateway, the service of one topic may be down: it must not stop the others.
TEST_F(HttpOutage, TakesOnePlaceOfManyForItself) {
    const auto broker = open_many();
    const auto verdict = [&] { return post_to(*broker, {"503", "503"})[0].verdict; };
    EXPECT_EQ(verdict(), Verdict::refused);
    expect_outage(post_to(*broker, {"504"}), "504");
    EXPECT_EQ(verdict(), Verdict::unanswered);
    expect_all(post_to(*broker, {"200"}));
    EXPECT_EQ(verdict(), Verdict::refused);
}

// What is not posted at all says nothing about the receiver, and keeps its own verdict.
TEST_F(HttpOutage, ForgivesNoMessageThatCannotBePosted) {
    testing::Received bad;
    bad.topic = "status";
    bad.headers = {{"a b", "x"}};
    Messages messages;
    messages.add(std::move(bad));
    messages.add("status", "k", "x");
    const std::vector<Answer> answers = publish(*open_at("?target=status/503"), messages);
    EXPECT_EQ(answers[0].verdict, Verdict::unacceptable);
    EXPECT_EQ(answers[1].verdict, Verdict::unanswered);
}

}  // namespace
}  // namespace outrider::live
