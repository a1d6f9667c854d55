#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "outrider/brokers.h"

#include "brokers/mqtt/broker.h"
#include "brokers/mqtt/classify.h"
#include "brokers/mqtt/connack.h"
#include "brokers/mqtt/topic.h"
#include "brokers/support/complaints.h"
#include "brokers/support/messages.h"
#include "brokers/support/mosquitto_server.h"
#include "support/temp_folder.h"

namespace outrider::live {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::unique_ptr<Broker> open(const std::string& url) {
    return std::move(mqtt_broker(url)->open()).value();
}

std::unique_ptr<Broker> open_with(const std::string& parameters) {
    return open(mosquitto_server().url() + "?" + parameters);
}

// tests/support/mqtt_script.py: a server that gives every code there is.
class Script {
public:
    explicit Script(int connack = 0, int receive_maximum = 100, const std::string& greeting = "")
        : port_(free_port()) {
        process_.emplace(Command{
            {"python3",
             OUTRIDER_MQTT_SCRIPT,
             std::to_string(port_),
             folder_.file("owed"),
             std::to_string(connack),
             std::to_string(receive_maximum),
             greeting},
            {},
            folder_.file("log")});
        EXPECT_TRUE(wait_until([this] { return listens(port_); }));
    }

    [[nodiscard]] std::string url() const { return "mqtt://127.0.0.1:" + std::to_string(port_); }

    // How many messages were unacknowledged at most.
    [[nodiscard]] int owed_at_most() const {
        int most = 0;
        std::ifstream file(folder_.file("owed"));
        for (int owed = 0; file >> owed;) most = std::max(most, owed);
        return most;
    }

private:
    TempFolder folder_;
    std::uint16_t port_;
    std::optional<Process> process_;
};

TEST(Mqtt, PublishesAWholeBurst) {
    const MosquittoSub reader(mosquitto_server());
    for (const char* qos : {"1", "2"}) {
        Messages messages;
        for (int i = 0; i < 3000; ++i) messages.add("orders", std::to_string(i), "x");
        const auto broker = open_with(std::string("no_subscribers=acknowledged&qos=") + qos);
        expect_all(publish(*broker, messages));
        EXPECT_FALSE(broker->traits().keeps_order);
    }
    const std::vector<Heard> heard = reader.wait_for(6000);
    EXPECT_EQ(heard.size(), 6000U);
    EXPECT_GE(mosquitto_server().logged("(d0, q1, r0"), 3000U);
    EXPECT_GE(mosquitto_server().logged("(d0, q2, r0"), 3000U);
}

Messages order() {
    testing::Received message;
    message.topic = "orders";
    message.key = "4 2";
    message.type = "order.placed";
    message.content_type = "application/json";
    message.payload = "{\"a\":1}";
    message.headers = {{"traceparent", "00-ab-cd-01"}, {"id", "not ours"}, {"shop", "ü"}};
    Messages messages;
    messages.add(message);
    return messages;
}

TEST(Mqtt, SaysWhatItIs) {
    const auto broker = open_with("");
    const Result<BrokerFacts> facts = broker->describe(in(seconds(20)));
    ASSERT_TRUE(facts) << facts.error().text;
    EXPECT_TRUE(facts->server.starts_with("mosquitto version 2.")) << facts->server;
    EXPECT_NE(facts->durability.find("somebody had subscribed"), std::string::npos);
    const MosquittoSub reader(mosquitto_server());
    expect_all(publish(*broker, one()));
    const Result<BrokerFacts> kept = open_with("retain=true")->describe(in(seconds(20)));
    EXPECT_NE(kept->durability.find("the last one of each topic"), std::string::npos);
    const auto nowhere = open("mqtt://127.0.0.1:" + std::to_string(free_port()));
    EXPECT_FALSE(nowhere->describe(in(seconds(2))));
}

// It hangs up on who asks for its name, and takes messages all the same.
TEST(Mqtt, SaysWhatItCanOfAServerWithoutAName) {
    const Script script(0, 7);
    const auto broker = open(script.url());
    const Result<BrokerFacts> facts = broker->describe(in(seconds(20)));
    ASSERT_TRUE(facts) << facts.error().text;
    EXPECT_EQ(facts->server, "a server without a name, MQTT 5, takes 7 messages at once");
    Messages messages;
    messages.add("code/0", "k", "x");
    expect_all(publish(*broker, messages));
}

TEST(Mqtt, WritesCloudEventsInBinaryMode) {
    const MosquittoSub reader(mosquitto_server());
    const Messages messages = order();
    expect_all(publish(*open_with("format=cloudevents-binary&target=shop/{topic}"), messages));
    const std::vector<Heard> heard = reader.wait_for(1);
    ASSERT_EQ(heard.size(), 1U);
    EXPECT_EQ(heard[0].topic, "shop/orders");
    EXPECT_EQ(heard[0].header("id"), messages.envelopes()[0].id.to_string());
    EXPECT_EQ(heard[0].header("specversion"), "1.0");
    EXPECT_EQ(heard[0].header("partitionkey"), "4 2");
    EXPECT_EQ(heard[0].header("traceparent"), "00-ab-cd-01");
    EXPECT_EQ(heard[0].header("shop"), "ü");
    EXPECT_EQ(heard[0].content_type, "application/json");
    EXPECT_EQ(heard[0].payload, "{\"a\":1}");
}

TEST(Mqtt, WritesCloudEventsInStructuredMode) {
    const MosquittoSub reader(mosquitto_server());
    const Messages messages = order();
    expect_all(publish(*open_with("format=cloudevents-structured"), messages));
    const std::vector<Heard> heard = reader.wait_for(1);
    ASSERT_EQ(heard.size(), 1U);
    EXPECT_EQ(heard[0].content_type, "application/cloudevents+json");
    const auto event = nlohmann::json::parse(heard[0].payload);
    EXPECT_EQ(event.at("id"), messages.envelopes()[0].id.to_string());
    EXPECT_EQ(event.at("data").at("a"), 1);
}

TEST(Mqtt, RefusesWhatNobodyHasSubscribedToAndDeliversItLater) {
    const MosquittoServer server;
    const auto broker = open(server.url());
    const std::vector<Answer> answers = publish(*broker, one());
    EXPECT_EQ(answers[0].verdict, Verdict::refused);
    EXPECT_NE(answers[0].reason.find("subscribers"), std::string::npos) << answers[0].reason;
    expect_all(publish(*open(server.url() + "?no_subscribers=acknowledged"), one()));
    const MosquittoSub reader(server);
    expect_all(publish(*broker, one("later")));
    EXPECT_EQ(reader.wait_for(1)[0].payload, "later");
}

TEST(Mqtt, RetainsOnRequest) {
    const MosquittoServer server;
    expect_all(publish(*open(server.url() + "?retain=true"), one("last")));
    const MosquittoSub reader(server);
    EXPECT_EQ(reader.wait_for(1)[0].payload, "last");
}

// It took them, and nobody would ever have seen one.
TEST(Mqtt, TakesAServerThatRetainsNothingForAnOutage) {
    const MosquittoServer server("allow_anonymous true\nretain_available false");
    expect_outage(publish(*open(server.url() + "?retain=true"), one()), "retain_available");
    EXPECT_FALSE(open(server.url() + "?retain=true")->ping(in(seconds(20))));
    EXPECT_TRUE(open(server.url())->ping(in(seconds(20))));
}

// To MQTT it is the order to delete what the topic had.
TEST(Mqtt, RefusesAnEmptyRetainedMessageThatNobodyHears) {
    const MosquittoServer server;
    const auto broker = open(server.url() + "?retain=true");
    const std::vector<Answer> answers = publish(*broker, one(""));
    EXPECT_EQ(answers[0].verdict, Verdict::refused);
    EXPECT_NE(answers[0].reason.find("subscribers"), std::string::npos) << answers[0].reason;
    // A CloudEvent is not empty, whatever it is about.
    const std::string structured = "?retain=true&format=cloudevents-structured";
    expect_all(publish(*open(server.url() + structured), one("")));
    const MosquittoSub reader(server);
    expect_all(publish(*broker, one("")));
}

TEST(Mqtt, CarriesAnyTopic) {
    const MosquittoSub reader(mosquitto_server(), "a/#");
    Messages messages;
    messages.add("a/+/#\x01%ü", "", "1");
    messages.add("$SYS/x", "", "2");
    const std::vector<Answer> answers = publish(*open_with(""), messages);
    EXPECT_EQ(answers[0].verdict, Verdict::acknowledged) << answers[0].reason;
    EXPECT_EQ(answers[1].verdict, Verdict::refused);
    EXPECT_EQ(reader.wait_for(1)[0].topic, "a/%2B/%23%01%25ü");
}

// The library or the server would break the link over them, and with it the whole burst.
TEST(Mqtt, RefusesTopicsThatMqttDoesNotTake) {
    const MosquittoSub reader(mosquitto_server());
    const auto deep = [](int slashes) {
        std::string topic = "a";
        for (int i = 0; i < slashes; ++i) topic += "/a";
        return topic;
    };
    const std::vector<std::string> bad = {
        "t\xef\xbf\xbf",      // U+FFFF
        "t\xef\xbf\xbe",      // U+FFFE
        "t\xef\xb7\x90",      // U+FDD0
        "t\xef\xb7\xaf",      // U+FDEF
        "t\xf0\x9f\xbf\xbe",  // U+1FFFE
        "t\xf4\x8f\xbf\xbf",  // U+10FFFF
        "t\xc2\x85",
        deep(201),
        std::string(65'536, 'a')};
    const std::vector<std::string> good = {
        "t\xef\xbf\xbd", "t\xef\xb7\x8f", "t\xef\xb7\xb0", "t\xf0\x9f\x98\x80", deep(200)};
    Messages messages;
    for (const std::string& topic : bad) messages.add(topic, "", "x");
    for (const std::string& topic : good) messages.add(topic, "", "x");
    const std::vector<Answer> answers = publish(*open_with(""), messages);
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const Verdict expected = i < bad.size() ? Verdict::refused : Verdict::acknowledged;
        EXPECT_EQ(answers[i].verdict, expected) << i << answers[i].reason;
    }
    EXPECT_NE(answers[7].reason.find("levels"), std::string::npos) << answers[7].reason;
    EXPECT_EQ(reader.wait_for(good.size()).size(), good.size());
}

TEST(Mqtt, TakesNoHeaderThatMqttDoesNot) {
    const MosquittoSub reader(mosquitto_server());
    testing::Received message;
    message.topic = "t";
    message.headers = {{"x", "a\x01"}};
    Messages messages;
    messages.add(message);
    message.id = {};
    message.headers = {{"x", "\xc2\x80"}};
    messages.add(message);
    messages.add("t", "k", "fine");
    const std::vector<Answer> answers = publish(*open_with(""), messages);
    EXPECT_EQ(answers[0].verdict, Verdict::unacceptable);
    EXPECT_EQ(answers[1].verdict, Verdict::unacceptable);
    EXPECT_EQ(answers[2].verdict, Verdict::acknowledged) << answers[2].reason;
}

TEST(Mqtt, FindsAMessageThatIsTooLarge) {
    for (const char* limit : {"max_packet_size 2000", "message_size_limit 1500"}) {
        const MosquittoServer server(std::string("allow_anonymous true\n") + limit);
        const MosquittoSub reader(server);
        Messages messages;
        for (int i = 0; i < 64; ++i) {
            messages.add("t", std::to_string(i), std::string(i == 40 ? 3000 : 100, 'x'));
        }
        const std::vector<Answer> answers = publish(*open(server.url()), messages);
        EXPECT_EQ(answers[40].verdict, Verdict::unacceptable) << limit << answers[40].reason;
        EXPECT_EQ(count(answers, Verdict::acknowledged), 63U) << limit << answers[41].reason;
        std::set<std::string> ids;
        // Some come twice if the server hangs up before its answers to them are read.
        EXPECT_TRUE(wait_until([&] {
            for (const Heard& heard : reader.heard()) ids.insert(heard.header("outrider-id"));
            return ids.size() >= 63U;
        }));
        EXPECT_EQ(ids.size(), 63U);
    }
}

TEST(Mqtt, TurnsEveryReasonCodeIntoItsVerdict) {
    const Script server;
    for (const char* end : {"?qos=1", "?qos=2&no_subscribers=acknowledged"}) {
        const MqttOptions options = *parse_mqtt_url(server.url() + end);
        std::vector<int> codes = {0, 16};
        for (int code = 128; code <= 162; ++code) codes.push_back(code);
        Messages messages;
        for (const int code : codes) messages.add("code/" + std::to_string(code), "", "x");
        const auto broker = std::move(make_mqtt_broker(options)->open()).value();
        const std::vector<Answer> answers = publish(*broker, messages, seconds(60));
        for (std::size_t i = 0; i < codes.size(); ++i) {
            const Verdict expected = mqtt::classify(codes[i], options.no_subscribers);
            EXPECT_EQ(answers[i].verdict, expected) << codes[i] << answers[i].reason;
            EXPECT_EQ(answers[i].reason.empty(), expected == Verdict::acknowledged) << codes[i];
        }
    }
}

TEST(Mqtt, RespectsTheReceiveMaximum) {
    const Script server(0, 3);
    Messages messages;
    for (int i = 0; i < 20; ++i) messages.add("t", std::to_string(i), "x");
    expect_all(publish(*open(server.url()), messages, seconds(60)));
    EXPECT_EQ(server.owed_at_most(), 3);
}

TEST(Mqtt, TakesARefusedOrEndedSessionForAnOutage) {
    const Script closed(137);
    expect_outage(publish(*open(closed.url()), one()), "busy");
    const Script server;
    Messages messages;
    messages.add("bye/139", "", "x");
    expect_outage(publish(*open(server.url()), messages), "");
}

// The library ended the whole process.
TEST(Mqtt, TakesAGreetingThatMqttDoesNotKnowForAnOutage) {
    const auto answers_to = [](const std::string& greeting) {
        const Script server(0, 100, greeting);
        return publish(*open(server.url()), one(), seconds(20));
    };
    expect_outage(answers_to("20060000037f0000"), "a property that MQTT 5 does not know");
    expect_outage(answers_to("e00400027f00"), "does not begin with a CONNACK");
    expect_outage(answers_to("2006000003-"), "in the middle of its CONNACK");
    // Of MQTT 3.
    expect_outage(answers_to("20020001"), "");
    expect_all(answers_to("2006000003210005"));
}

TEST(MqttGreeting, IsJudgedWhenItIsThere) {
    const auto flaw = [](std::string_view bytes) {
        const mqtt::Greeting greeting = mqtt::judge_greeting(bytes);
        EXPECT_EQ(greeting.bytes_wanted, 0U);
        return greeting.flaw;
    };
    using namespace std::string_view_literals;
    EXPECT_EQ(flaw("\x20\x03\0\0\0"sv), "");
    EXPECT_EQ(flaw("\x20\x02\0\x01"sv), "");
    EXPECT_EQ(flaw("\x20\x0d\0\0\x0a\x21\0\x05\x26\0\x01k\0\x01v"sv), "");
    for (const std::string_view junk :
         {"\x20\x06\0\0\x03\x7f\0\0"sv,
          "\x20\x05\0\0\x03\x21\0"sv,
          "\x20\x05\0\0\x02\x21\0"sv,
          "\x20\x06\0\0\x03\x1f\0\x05"sv,
          "\x20\xff\xff\xff\xff\x01"sv,
          "\x20\xff\xff\x7f"sv,
          "HTTP/1.1 400"sv}) {
        EXPECT_NE(flaw(junk), "") << ::testing::PrintToString(junk);
    }
    EXPECT_EQ(mqtt::judge_greeting("").bytes_wanted, 1U);
    EXPECT_EQ(mqtt::judge_greeting("\x20").bytes_wanted, 2U);
    EXPECT_EQ(mqtt::judge_greeting("\x20\x80").bytes_wanted, 3U);
    EXPECT_EQ(mqtt::judge_greeting("\x20\x03\0"sv).bytes_wanted, 5U);
}

TEST(Mqtt, LogsIn) {
    const TempFolder folder;
    const std::string passwords = folder.file("passwords");
    std::ofstream(passwords).flush();
    const std::string command =
        "mosquitto_passwd -b '" + passwords + "' me opensesame && chmod 644 '" + passwords + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
    std::ofstream(folder.file("rules")) << "user me\ntopic readwrite good/#\n";
    const MosquittoServer server(
        "allow_anonymous false\npassword_file " + passwords + "\nacl_file " + folder.file("rules")
    );
    const MosquittoSub reader(server, "good/#", {"-u", "me", "-P", "opensesame"});
    const std::vector<Answer> wrong = publish(*open(server.url("me:opensimsim@")), one());
    expect_outage(wrong, "uthori");
    EXPECT_EQ(wrong[0].reason.find("opensimsim"), std::string::npos);
    expect_outage(publish(*open(server.url()), one()), "uthori");
    Messages messages;
    messages.add("good/a", "a", "1");
    messages.add("bad/b", "b", "2");
    messages.add("good/c", "c", "3");
    const std::vector<Answer> answers = publish(*open(server.url("me:opensesame@")), messages);
    EXPECT_EQ(answers[0].verdict, Verdict::acknowledged) << answers[0].reason;
    EXPECT_EQ(answers[1].verdict, Verdict::refused) << answers[1].reason;
    EXPECT_EQ(answers[2].verdict, Verdict::acknowledged) << answers[2].reason;
}

TEST(Mqtt, VerifiesTheServersCertificate) {
    const Certificates good("IP:127.0.0.1");
    const Certificates other("IP:127.0.0.1");
    const Certificates misnamed("DNS:elsewhere");
    const MosquittoServer server("allow_anonymous true", &good);
    const MosquittoServer stranger("allow_anonymous true", &misnamed);
    const auto ping = [](const MosquittoServer& to, const std::string& parameters) {
        return open("mqtts://127.0.0.1:" + std::to_string(to.port()) + "?" + parameters)
            ->ping(in(seconds(20)));
    };
    const Result<void> fine = ping(server, "tls_ca=" + good.authority());
    EXPECT_TRUE(fine) << fine.error().text;
    EXPECT_FALSE(ping(server, "tls_ca=" + other.authority()));
    EXPECT_FALSE(ping(server, ""));
    EXPECT_FALSE(ping(stranger, "tls_ca=" + misnamed.authority()));
    // A file that comes late.
    const TempFolder folder;
    const std::string late = folder.file("ca.pem");
    const auto broker =
        open("mqtts://127.0.0.1:" + std::to_string(server.port()) + "?tls_ca=" + late);
    const std::string missing = "cannot read tls_ca " + late + ": No such file or directory";
    EXPECT_EQ(broker->ping(in(seconds(20))).error().text, missing);
    std::filesystem::copy_file(good.authority(), late);
    EXPECT_TRUE(broker->ping(in(seconds(20))));
    const MosquittoSub reader(server, "#", {"--cafile", good.authority()});
    expect_all(publish(
        *open("mqtts://127.0.0.1:" + std::to_string(server.port()) + "?tls_ca=" + good.authority()),
        one()
    ));
    EXPECT_EQ(reader.wait_for(1).size(), 1U);
    server.freeze();
    EXPECT_FALSE(
        open("mqtts://127.0.0.1:" + std::to_string(server.port()))->ping(in(milliseconds(300)))
    );
    server.thaw();
}

TEST(Mqtt, DemandsClientCertificatesToo) {
    const Certificates good("IP:127.0.0.1");
    const MosquittoServer server("allow_anonymous true\nrequire_certificate true", &good);
    const std::string url =
        "mqtts://127.0.0.1:" + std::to_string(server.port()) + "?tls_ca=" + good.authority();
    const Result<void> fine =
        open(url + "&tls_cert=" + good.certificate() + "&tls_key=" + good.key())
            ->ping(in(seconds(20)));
    EXPECT_TRUE(fine) << fine.error().text;
    EXPECT_FALSE(open(url)->ping(in(seconds(20))));
}

TEST(Mqtt, StopsAtTheDeadlineWhenFrozen) {
    const MosquittoSub reader(mosquitto_server());
    Messages many;
    for (int i = 0; i < 500; ++i) many.add("t", std::to_string(i), std::string(20'000, 'x'));
    const auto broker = open_with("");
    expect_all(publish(*broker, one()));
    mosquitto_server().freeze();
    const MonoTime start = SystemClock().now();
    expect_outage(publish(*broker, one(), milliseconds(300)), "");
    expect_outage(publish(*broker, many, milliseconds(300)), "");
    EXPECT_FALSE(broker->ping(in(milliseconds(200))));
    EXPECT_LT(SystemClock().now() - start, seconds(20));
    mosquitto_server().thaw();
    EXPECT_TRUE(broker->ping(in(seconds(30))));
    expect_all(publish(*broker, one()));
}

TEST(Mqtt, ComesBackAfterItsConnectionWasClosed) {
    MosquittoServer server;
    const auto broker = open(server.url() + "?no_subscribers=acknowledged");
    expect_all(publish(*broker, one()));
    server.kill();
    server.start();
    expect_all(publish(*broker, one()));
}

TEST(Mqtt, TriesEveryServer) {
    const std::string dead = "mqtt://127.0.0.1:" + std::to_string(free_port());
    const std::string port = std::to_string(mosquitto_server().port());
    expect_all(publish(*open(dead + ",127.0.0.1:" + port + "?no_subscribers=acknowledged"), one()));
    const std::vector<Answer> answers = publish(*open(dead), one());
    expect_outage(answers, dead.substr(7) + ": cannot connect: Connection refused");
}

TEST(MqttClassify, KnowsWhatIsWhose) {
    const auto verdict = [](int code) { return mqtt::classify(code, NoSubscribers::refused); };
    EXPECT_EQ(verdict(0), Verdict::acknowledged);
    EXPECT_EQ(verdict(16), Verdict::refused);
    EXPECT_EQ(mqtt::classify(16, NoSubscribers::acknowledged), Verdict::acknowledged);
    for (const int code : {128, 131, 135, 144, 151}) EXPECT_EQ(verdict(code), Verdict::refused);
    for (const int code : {149, 153}) EXPECT_EQ(verdict(code), Verdict::unacceptable);
    for (const int code : {145, 146, 1, 17, 24, -1}) EXPECT_EQ(verdict(code), Verdict::unanswered);
}

TEST(MqttUrl, ReadsOptions) {
    const Result<MqttOptions> options = parse_mqtt_url(
        "mqtt://me:pw@a,b:5000?qos=2&retain=true&no_subscribers=acknowledged&keepalive=0s"
    );
    ASSERT_TRUE(options) << options.error().text;
    EXPECT_EQ(wire::to_string(options->endpoints[0]), "a:1883");
    EXPECT_EQ(wire::to_string(options->endpoints[1]), "b:5000");
    EXPECT_EQ(options->user, "me");
    EXPECT_EQ(options->qos, 2U);
    EXPECT_TRUE(options->retain);
    EXPECT_EQ(options->no_subscribers, NoSubscribers::acknowledged);
    EXPECT_EQ(options->keepalive, seconds(0));
    EXPECT_EQ(parse_mqtt_url("mqtts://a")->endpoints[0].port, 8883);
}

TEST(MqttUrl, SaysWhatItCannotDo) {
    expect_complaints(
        parse_mqtt_url,
        {{"mqtt://a?qos=0", "1 or 2"},
         {"mqtt://a?qos=2", "no_subscribers"},
         {"mqtt://a/b", "target"},
         {"mqtts://a?tls_cert=x", "belong together"},
         {"mqtt://a?tls_ca=x", "mqtts:"},
         {"mqtt://a?target=x/%23", "wildcard"},
         {"mqtt://a?keepalive=1s", "5s"},
         {"mqtt://a?ack_wait=0s", "longer"},
         {"http://a", "mqtt:"}}
    );
}

}  // namespace
}  // namespace outrider::live
