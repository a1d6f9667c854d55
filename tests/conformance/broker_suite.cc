#include "conformance/broker_suite.h"

#include <algorithm>
#include <map>
#include <thread>

#include "core/clock.h"
#include "core/hash.h"
#include "support/random_bytes.h"

namespace outrider {

using testing::Received;

std::unique_ptr<Broker> BrokerSuite::open() {
    Result<std::unique_ptr<Broker>> broker = harness_->driver()->open();
    EXPECT_TRUE(broker) << broker.error().text;
    return std::move(broker).value();
}

Envelope BrokerSuite::envelope(Received message) {
    if (message.id.is_nil()) message.id = MessageId::generate();
    const Received& kept = *kept_.emplace_back(std::make_unique<Received>(std::move(message)));
    auto& headers = *kept_headers_.emplace_back(std::make_unique<std::vector<HeaderView>>());
    for (const Header& header : kept.headers) headers.push_back({header.name, header.value});
    Envelope envelope;
    envelope.id = kept.id;
    envelope.topic = kept.topic;
    envelope.key = kept.key;
    envelope.type = kept.type;
    envelope.content_type = kept.content_type;
    envelope.payload = kept.payload;
    envelope.headers = headers;
    envelope.occurred_at = WallTime(std::chrono::milliseconds(1'700'000'000'123));
    envelope.seq = static_cast<std::int64_t>(kept_.size());
    envelope.order_key = order_key(Order::key, kept.topic, kept.key, envelope.seq);
    return envelope;
}

std::vector<Answer> BrokerSuite::publish(Broker& broker, std::span<const Envelope> envelopes) {
    std::vector<Answer> answers(envelopes.size());
    broker.publish(envelopes, SystemClock().now() + std::chrono::seconds(30), answers);
    return answers;
}

// A broker that does not keep order may have them in any: then they are compared as if they had
// come in that of the burst.
std::vector<Received> BrokerSuite::received(
    const Broker& broker,
    const std::vector<Envelope>& burst
) {
    std::vector<Received> received = harness_->received();
    if (keeps_order(broker.traits(), Order::key)) return received;
    std::map<MessageId, std::size_t> places;
    for (std::size_t i = 0; i < burst.size(); ++i) places.emplace(burst[i].id, i);
    std::stable_sort(received.begin(), received.end(), [&](const auto& a, const auto& b) {
        return places[a.id] < places[b.id];
    });
    return received;
}

namespace {

Received message(std::string topic, std::string key, std::string payload) {
    Received received;
    received.topic = std::move(topic);
    received.key = std::move(key);
    received.payload = std::move(payload);
    return received;
}

void expect_acknowledged(const std::vector<Answer>& answers) {
    for (const Answer& answer : answers) {
        EXPECT_EQ(answer.verdict, Verdict::acknowledged) << answer.reason;
    }
}

}  // namespace

TEST_P(BrokerSuite, AcknowledgesWhatHasArrivedInOrder) {
    const auto broker = open();
    std::vector<Envelope> burst;
    for (int i = 0; i < 1000; ++i) {
        burst.push_back(envelope(message("t", "k", std::to_string(i))));
    }
    expect_acknowledged(publish(*broker, burst));
    const std::vector<Received> received = this->received(*broker, burst);
    ASSERT_EQ(received.size(), burst.size());
    for (std::size_t i = 0; i < burst.size(); ++i) {
        EXPECT_EQ(received[i].payload, burst[i].payload);
        EXPECT_EQ(received[i].id, burst[i].id);
    }
}

TEST_P(BrokerSuite, CarriesEveryFieldUnchanged) {
    Received full = message("orders.ü \"quoted\"", "line\nbreak", "{\"a\":\"\\u00e4\\n\"}");
    full.id = MessageId::generate();
    full.type = "order.placed";
    full.content_type = "application/json";
    full.headers = {{"traceparent", "00-ab"}, {"x", "ünï\\"}};
    const auto broker = open();
    const std::vector<Envelope> burst = {envelope(full)};
    expect_acknowledged(publish(*broker, burst));
    const std::vector<Received> received = harness_->received();
    ASSERT_EQ(received.size(), 1U);
    EXPECT_EQ(received[0].id, full.id);
    EXPECT_EQ(received[0].topic, full.topic);
    EXPECT_EQ(received[0].key, full.key);
    EXPECT_EQ(received[0].type, full.type);
    EXPECT_EQ(received[0].content_type, full.content_type);
    EXPECT_EQ(received[0].payload, full.payload);
    EXPECT_EQ(received[0].headers, full.headers);
}

TEST_P(BrokerSuite, CarriesAnyBytes) {
    const auto broker = open();
    std::string all;
    for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
    const std::vector<std::string> payloads = {
        "", std::string("\0", 1), "\xff", all, "\n", "\xed\xa0\x80", std::string(300'000, '\x07')};
    std::vector<Envelope> burst;
    for (const std::string& payload : payloads)
        burst.push_back(envelope(message("t", "", payload)));
    expect_acknowledged(publish(*broker, burst));
    const std::vector<Received> received = this->received(*broker, burst);
    ASSERT_EQ(received.size(), payloads.size());
    for (std::size_t i = 0; i < payloads.size(); ++i) EXPECT_EQ(received[i].payload, payloads[i]);
}

TEST_P(BrokerSuite, CarriesRandomBytes) {
    constexpr std::size_t kBurst = 500;
    RandomBytes random;
    SCOPED_TRACE("RANDOM_SEED=" + std::to_string(random.seed()));
    const auto broker = open();
    std::vector<Envelope> all;
    for (std::string& payload : random.payloads()) {
        all.push_back(envelope(message("t", "k", std::move(payload))));
    }
    for (std::span<const Envelope> rest = all; !rest.empty();) {
        const std::size_t count = std::min(kBurst, rest.size());
        expect_acknowledged(publish(*broker, rest.first(count)));
        rest = rest.subspan(count);
    }
    const std::vector<Received> received = this->received(*broker, all);
    ASSERT_EQ(received.size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(received[i].payload, all[i].payload);
}

TEST_P(BrokerSuite, TakesAnEmptyBurst) {
    const auto broker = open();
    EXPECT_TRUE(publish(*broker, {}).empty());
    EXPECT_TRUE(harness_->received().empty());
}

TEST_P(BrokerSuite, AnswersAPing) {
    const auto broker = open();
    const Result<void> answer = broker->ping(SystemClock().now() + std::chrono::seconds(10));
    EXPECT_TRUE(answer) << answer.error().text;
}

TEST_P(AwaySuite, LeavesEverythingUnansweredWhileAwayAndRecovers) {
    harness_->take_away();
    const auto broker = open();
    const std::vector<Envelope> burst = {
        envelope(message("t", "k", "1")), envelope(message("t", "k", "2"))};
    for (const Answer& answer : publish(*broker, burst)) {
        EXPECT_EQ(answer.verdict, Verdict::unanswered);
        EXPECT_FALSE(answer.reason.empty());
    }
    EXPECT_FALSE(broker->ping(SystemClock().now() + std::chrono::seconds(1)));
    harness_->bring_back();
    EXPECT_TRUE(broker->ping(SystemClock().now() + std::chrono::seconds(10)));
    expect_acknowledged(publish(*broker, burst));
    EXPECT_EQ(harness_->received().size(), 2U);
}

TEST_P(BrokerSuite, TakesFromSeveralConnectionsAtOnce) {
    constexpr int kConnections = 4;
    constexpr int kBursts = 20;
    constexpr int kBurst = 25;
    std::vector<std::vector<Envelope>> bursts(kConnections);
    for (int c = 0; c < kConnections; ++c) {
        for (int i = 0; i < kBurst; ++i) {
            bursts[static_cast<std::size_t>(c)].push_back(
                envelope(message("t", std::to_string(c), std::string(500, 'x')))
            );
        }
    }
    std::vector<std::jthread> threads;
    for (const auto& burst : bursts) {
        threads.emplace_back([this, &burst] {
            const auto broker = open();
            for (int i = 0; i < kBursts; ++i) expect_acknowledged(publish(*broker, burst));
        });
    }
    threads.clear();
    EXPECT_EQ(harness_->received().size(), std::size_t{kConnections * kBursts * kBurst});
}

}  // namespace outrider
