#include "brokers/nats_fixture.h"

namespace outrider::live {
namespace {

// One key, so that the order counts.
Messages sequel(int count) {
    Messages messages;
    for (int i = 1; i <= count; ++i) messages.add("t", "k", std::to_string(i));
    return messages;
}

std::string payloads(const std::vector<NatsClient::Message>& messages) {
    std::string all;
    for (const auto& message : messages) all += payload(message);
    return all;
}

TEST_F(Nats, DropsWhatItHasAlready) {
    const Messages messages = one();
    const auto broker = open_shop();
    expect_all(publish(*broker, messages));
    expect_all(publish(*broker, messages));
    const auto found = read();
    ASSERT_EQ(found.size(), 1U);
    const std::string id = messages.envelopes()[0].id.to_string();
    EXPECT_EQ(header(found[0].get(), "outrider-id"), id);
    EXPECT_EQ(header(found[0].get(), "Nats-Msg-Id"), id);
}

// The server names the subject in JSON, where some characters are escaped.
TEST_F(Nats, DropsWhatItHasAlreadyWhateverItsSubject) {
    Messages messages;
    for (const char* topic : {"a&b", "a<b", "a\"b", "a\\b", "a\\u0026b", "ü\u2028\U0001F600"}) {
        messages.add(topic, "", topic);
    }
    const auto broker = open_shop();
    expect_all(publish(*broker, messages));
    expect_all(publish(*broker, messages));
    EXPECT_EQ(read().size(), messages.envelopes().size());
}

TEST_F(Nats, DropsNothingThatGoesToAnotherSubject) {
    const Messages messages = sequel(3);
    const std::string place = nats_server().url() + "?target=shop.";
    expect_all(publish(*open(place + "a.{topic}"), messages));
    expect_all(publish(*open(place + "b.{topic}"), messages));
    EXPECT_EQ(payloads(read()), "123123");
}

// failures.md F61: "duplicate" is no acknowledgement.
TEST_F(Nats, PublishesAgainWhatTheStreamNoLongerHas) {
    const Messages messages = sequel(3);
    const auto broker = open_shop();
    const NatsClient client(nats_server().url());
    expect_all(publish(*broker, messages));
    client.purge("SHOP");
    expect_all(publish(*broker, messages));
    EXPECT_EQ(payloads(read()), "123");
    client.purge("SHOP");
    expect_all(publish(*open_shop(), messages));
    EXPECT_EQ(payloads(read()), "123");
}

TEST_F(Nats, PublishesAWholeBurstAgain) {
    Messages messages;
    for (int i = 0; i < 5000; ++i) messages.add("t", std::to_string(i), "x");
    const auto broker = open_shop();
    const NatsClient client(nats_server().url());
    expect_all(publish(*broker, messages));
    expect_all(publish(*broker, messages));
    EXPECT_EQ(client.count("SHOP"), 5000U);
    client.purge("SHOP");
    expect_all(publish(*broker, messages));
    EXPECT_EQ(client.count("SHOP"), 5000U);
}

TEST_F(Nats, RepeatsWhatStandsBehindAMessageThatIsGone) {
    const Messages messages = sequel(3);
    const NatsClient client(nats_server().url());
    expect_all(publish(*open_shop(), messages));
    client.delete_message("SHOP", 2);
    expect_all(publish(*open_shop(), messages));
    EXPECT_EQ(payloads(read()), "1323");
}

TEST_F(Nats, RepeatsWhatStandsBehindInALaterBurst) {
    const Messages messages = sequel(2);
    const std::span<const Envelope> envelopes(messages.envelopes());
    expect_all(publish(*open_shop(), messages));
    NatsClient(nats_server().url()).delete_message("SHOP", 1);
    const auto broker = open_shop();
    for (const std::size_t place : {0U, 1U}) {
        std::vector<Answer> answers(1);
        broker->publish(envelopes.subspan(place, 1), in(std::chrono::seconds(20)), answers);
        expect_all(answers);
    }
    EXPECT_EQ(payloads(read()), "212");
}

TEST_F(Nats, PublishesAgainWhereItMayNotLook) {
    const NatsServer guarded(kGuarded, kAdmin);
    const NatsClient client(guarded.url());
    client.add_stream("SHOP", "shop.>");
    const auto broker = open(guarded.url("shop:secret@") + "?target=shop.{topic}");
    const Messages messages = sequel(3);
    expect_all(publish(*broker, messages));
    expect_all(publish(*broker, messages));
    EXPECT_EQ(payloads(client.read("SHOP")), "123123");
}

}  // namespace
}  // namespace outrider::live
