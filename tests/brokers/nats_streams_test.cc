#include "brokers/nats/facts.h"
#include "brokers/nats/streams.h"
#include "brokers/nats_fixture.h"

namespace outrider::live {
namespace {

using std::chrono::seconds;

Messages to_subject(const std::string& subject) {
    Messages messages;
    for (int i = 0; i < 3; ++i) messages.add(subject, std::to_string(i), "x");
    return messages;
}

void expect_refused(const std::vector<Answer>& answers, const std::string& part) {
    for (const Answer& answer : answers) {
        EXPECT_EQ(answer.verdict, Verdict::refused);
        EXPECT_NE(answer.reason.find(part), std::string::npos) << answer.reason;
    }
}

TEST_F(Nats, TakesAServerWithoutJetStreamForAnOutage) {
    NatsServer server;
    NatsClient(server.url()).add_stream("SHOP", "shop.>");
    const auto broker = open(server.url());
    expect_all(publish(*broker, to_subject("shop.a")));
    EXPECT_TRUE(broker->ping(in(seconds(10))));
    server.kill();
    server.set_jetstream(false);
    server.start();
    expect_outage(publish(*broker, to_subject("shop.a")), "");
    expect_outage(publish(*broker, to_subject("shop.a")), "JetStream");
    const Result<void> there = broker->ping(in(seconds(10)));
    ASSERT_FALSE(there);
    EXPECT_NE(there.error().text.find("JetStream is off"), std::string::npos) << there.error().text;
    EXPECT_FALSE(broker->describe(in(seconds(10))));
    server.kill();
    server.set_jetstream(true);
    server.start();
    expect_all(publish(*broker, to_subject("shop.b")));
}

TEST_F(Nats, TakesAnAccountWithoutJetStreamForAnOutage) {
    const NatsServer server(
        "accounts { WITH { jetstream: enabled, users: [ {user: w, password: secret} ] },"
        " WITHOUT { users: [ {user: o, password: secret} ] } }",
        "o:secret@"
    );
    const auto broker = open(server.url());
    expect_outage(publish(*broker, one()), "not enabled");
    const Result<void> there = broker->ping(in(seconds(10)));
    ASSERT_FALSE(there);
    EXPECT_NE(there.error().text.find("not enabled"), std::string::npos) << there.error().text;
    EXPECT_TRUE(open(server.url("w:secret@"))->ping(in(seconds(10))));
}

// Elections take their time, so all of it in one cluster.
TEST_F(Nats, TakesAStreamWithoutALeaderForAnOutage) {
    NatsCluster cluster;
    cluster.add_stream("LONE", "lone.>", 1);
    cluster.add_stream("ALL", "all.>", 3);
    const auto broker = open(cluster.url() + "?ack_wait=5s");
    expect_all(publish(*broker, to_subject("lone.a")));
    expect_all(publish(*broker, to_subject("all.a")));

    cluster.kill_leader_of("LONE");
    // Until the others have agreed on a leader nobody knows; then the stream is there, but away.
    EXPECT_TRUE(wait_until(
        [&] {
            const std::vector<Answer> answers = publish(*broker, to_subject("lone.b"));
            expect_outage(answers, "");
            return answers.front().reason.find("LONE") != std::string::npos;
        },
        std::chrono::minutes(2)
    ));
    expect_refused(publish(*broker, to_subject("elsewhere")), "no stream takes");

    // Without a majority there is no leader, and nobody listens to the subject.
    cluster.kill_leader_of("ALL");
    for (int round = 0; round < 3; ++round)
        expect_outage(publish(*broker, to_subject("all.b")), "");
}

// A wiretap hears everything and answers nothing.
TEST_F(Nats, RefusesWhatOnlyAPlainSubscriberTakes) {
    const NatsClient client(nats_server().url());
    natsSubscription* wiretap = nullptr;
    natsConnection_SubscribeSync(&wiretap, client.get(), ">");
    natsConnection_Flush(client.get());
    Messages messages;
    messages.add("lost.a", "a", "1");
    messages.add("shop.b", "b", "2");
    messages.add("lost.c", "c", "3");
    messages.add("shop.d", "b", "4");
    const auto broker = open(nats_server().url() + "?ack_wait=3s");
    const std::vector<Answer> answers = publish(*broker, messages);
    EXPECT_EQ(answers[0].verdict, Verdict::refused);
    EXPECT_NE(answers[0].reason.find("lost.a"), std::string::npos) << answers[0].reason;
    EXPECT_EQ(answers[1].verdict, Verdict::acknowledged) << answers[1].reason;
    EXPECT_EQ(answers[2].verdict, Verdict::refused) << answers[2].reason;
    EXPECT_EQ(answers[3].verdict, Verdict::acknowledged) << answers[3].reason;
    // Also where the deadline comes before the end of ack_wait.
    const auto hurried = open(nats_server().url());
    EXPECT_EQ(publish(*hurried, messages, seconds(8))[0].verdict, Verdict::refused);
    natsSubscription_Destroy(wiretap);
}

TEST_F(Nats, ChargesNobodyForAStreamThatDoesNotAcknowledge) {
    NatsClient(nats_server().url()).add_stream("MUTE", "mute.>", [](jsStreamConfig& config) {
        config.NoAck = true;
    });
    const auto broker = open(nats_server().url() + "?ack_wait=3s");
    expect_outage(publish(*broker, to_subject("mute.a")), "MUTE");
}

TEST_F(Nats, ChargesNobodyIfItMayNotAsk) {
    const NatsServer guarded(kGuarded, kAdmin);
    const auto broker = open(guarded.url("shop:secret@"));
    EXPECT_TRUE(broker->ping(in(seconds(10))));
    const MonoTime start = SystemClock().now();
    expect_outage(publish(*broker, to_subject("shop.a")), "STREAM.NAMES");
    EXPECT_LT(SystemClock().now() - start, seconds(15));
    NatsClient(guarded.url()).add_stream("SHOP", "shop.>");
    expect_all(publish(*broker, to_subject("shop.a")));
}

// Its messages would be stored, and the answers come to nobody.
TEST_F(Nats, SaysThatItMayNotHearAnswers) {
    const NatsServer server(
        "accounts { A { jetstream: enabled, users: [ {user: admin, password: secret},"
        " {user: deaf, password: secret, permissions: {subscribe: {deny: \"_INBOX.>\"}}} ] } }",
        kAdmin
    );
    const NatsClient client(server.url());
    client.add_stream("SHOP", "shop.>");
    const auto broker = open(server.url("deaf:secret@"));
    expect_outage(publish(*broker, to_subject("shop.a")), "allowed to subscribe to _INBOX.>");
    EXPECT_EQ(client.count("SHOP"), 0U);
    const Result<void> there = broker->ping(in(seconds(10)));
    ASSERT_FALSE(there);
    EXPECT_NE(there.error().text.find("ermissions"), std::string::npos) << there.error().text;
    EXPECT_EQ(there.error().text.find("secret"), std::string::npos) << there.error().text;
}

// The streams are another account's, which lends subjects and, by another name, its API.
TEST_F(Nats, AsksTheJetStreamThatHasTheStreams) {
    const NatsServer server(
        "accounts { JS { jetstream: enabled, users: [ {user: js, password: secret} ],"
        " exports: [ {service: \"shop.>\"}, {service: \"lost.>\"}, {service: \"$JS.API.>\"} ] },"
        " APP { users: [ {user: app, password: secret} ], imports: ["
        " {service: {account: JS, subject: \"shop.>\"}},"
        " {service: {account: JS, subject: \"lost.>\"}},"
        " {service: {account: JS, subject: \"$JS.API.>\"}, to: \"JS.lent.API.>\"} ] } }",
        "js:secret@"
    );
    const NatsClient client(server.url());
    client.add_stream("SHOP", "shop.>");
    const Messages messages = to_subject("shop.a");
    const std::string place = server.url("app:secret@") + "?ack_wait=3s";
    EXPECT_FALSE(open(place)->ping(in(seconds(10))));

    const auto broker = open(place + "&api=JS.lent.API");
    EXPECT_TRUE(broker->ping(in(seconds(10))));
    expect_all(publish(*broker, messages));
    expect_all(publish(*broker, messages));
    EXPECT_EQ(client.count("SHOP"), 3U);
    expect_refused(publish(*broker, to_subject("lost.a")), "no stream takes");

    const auto without = open(place + "&api=");
    EXPECT_TRUE(without->ping(in(seconds(10))));
    expect_all(publish(*without, messages));
    EXPECT_EQ(client.count("SHOP"), 6U);
    expect_outage(publish(*without, to_subject("lost.a")), "api is empty");
    const Result<BrokerFacts> facts = open(place + "&api=&stream=SHOP")->describe(in(seconds(10)));
    ASSERT_TRUE(facts) << facts.error().text;
    EXPECT_NE(facts->durability.find("not known"), std::string::npos) << facts->durability;
}

// It acknowledges, and keeps nothing for anybody.
TEST_F(Nats, SaysThatAStreamKeepsOnlyWhatConsumersWant) {
    const NatsClient client(nats_server().url());
    client.add_stream("FANS", "fans.>", [](jsStreamConfig& config) {
        config.Retention = js_InterestPolicy;
    });
    expect_all(publish(*open(nats_server().url()), to_subject("fans.a")));
    EXPECT_EQ(client.count("FANS"), 0U);
    const auto risk = [](const std::string& stream) {
        const auto broker = open(nats_server().url() + "?stream=" + stream);
        const Result<BrokerFacts> facts = broker->describe(in(seconds(20)));
        EXPECT_TRUE(facts) << facts.error().text;
        return facts ? facts->risk : std::string();
    };
    EXPECT_NE(risk("FANS").find("retention interest"), std::string::npos) << risk("FANS");
    EXPECT_TRUE(risk("FANS").ends_with("no consumer now")) << risk("FANS");
    EXPECT_EQ(risk("SHOP"), "");
    EXPECT_EQ(risk("NONE"), "");
}

TEST(NatsStreams, AreReadOnlyFromAnAnswer) {
    EXPECT_EQ(*nats::read_streams(R"({"total":0,"streams":null})"), "");
    EXPECT_EQ(*nats::read_streams(R"({"total":0,"streams":[]})"), "");
    EXPECT_EQ(*nats::read_streams(R"({"total":2,"streams":["A","B"]})"), "A");
    EXPECT_FALSE(nats::read_streams(R"({"error":{"code":503,"err_code":10008}})"));
    EXPECT_FALSE(nats::read_streams("{}"));
    EXPECT_FALSE(nats::read_streams(""));
    EXPECT_EQ(nats::streams_body("a\"b"), R"({"subject":"a\"b"})");
}

TEST(NatsFacts, TellTheRiskOfInterest) {
    const auto risk = [](const std::string& text) { return nats::risk_of(text, "S"); };
    const std::string interest = R"({"config":{"retention":"interest"},"state":{"consumer_count":)";
    EXPECT_TRUE(risk(interest + "0}}").ends_with("it has no consumer now"));
    EXPECT_TRUE(risk(interest + "1}}").ends_with("retention limits"));
    EXPECT_EQ(risk(R"({"config":{"retention":"limits"}})"), "");
    EXPECT_EQ(risk(R"({"error":{"err_code":10059}})"), "");
    EXPECT_EQ(risk("junk"), "");
}

}  // namespace
}  // namespace outrider::live
