#include <thread>

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "brokers/rabbitmq/broker.h"
#include "brokers/rabbitmq/classify.h"
#include "brokers/rabbitmq/watchdog.h"
#include "brokers/support/complaints.h"
#include "brokers/support/messages.h"
#include "brokers/support/rabbitmq_server.h"
#include "core/descriptor.h"

namespace outrider::live {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::unique_ptr<Broker> open(const std::string& url) {
    const Result<RabbitmqOptions> options = parse_rabbitmq_url(url);
    EXPECT_TRUE(options) << options.error().text;
    return std::move(make_rabbitmq_broker(*options)->open()).value();
}

// Every test finds an exchange "shop" with one empty queue behind it, for the keys "t" and "t.#".
class Rabbitmq : public ::testing::Test {
protected:
    Rabbitmq() {
        RabbitmqClient client(rabbitmq_server().port());
        client.declare_exchange("shop");
        client.declare("orders");
        client.bind("orders", "shop", "t.#");
    }
    ~Rabbitmq() override {
        RabbitmqClient client(rabbitmq_server().port());
        client.remove("orders");
        client.delete_exchange("shop");
    }
    Rabbitmq(const Rabbitmq&) = delete;
    Rabbitmq& operator=(const Rabbitmq&) = delete;

    static std::unique_ptr<Broker> open_with(const std::string& parameters) {
        return open(rabbitmq_server().url() + "?exchange=shop&" + parameters);
    }
    static std::unique_ptr<Broker> open_shop() { return open_with(""); }
    static std::vector<Fetched> fetch() {
        return RabbitmqClient(rabbitmq_server().port()).fetch("orders");
    }
    static std::size_t queued() { return RabbitmqClient(rabbitmq_server().port()).count("orders"); }
};

TEST_F(Rabbitmq, ConfirmsAWholeBurst) {
    Messages messages;
    for (int i = 0; i < 10'000; ++i) messages.add("t", std::to_string(i), "x");
    const auto broker = open_shop();
    expect_all(publish(*broker, messages));
    EXPECT_EQ(queued(), 10'000U);
    EXPECT_TRUE(broker->traits().keeps_order_keys);
}

TEST_F(Rabbitmq, SaysWhatItIs) {
    const Result<BrokerFacts> facts =
        open(rabbitmq_server().url())->describe(in(std::chrono::seconds(20)));
    ASSERT_TRUE(facts) << facts.error().text;
    EXPECT_TRUE(facts->server.starts_with("RabbitMQ 3.")) << facts->server;
    EXPECT_NE(facts->durability.find("durable"), std::string::npos) << facts->durability;
}

TEST_F(Rabbitmq, WritesCloudEventsInBinaryMode) {
    testing::Received message;
    message.topic = "t.x";
    message.key = "42";
    message.type = "order.placed";
    message.content_type = "application/json";
    message.payload = "{}";
    message.headers = {{"traceparent", "00-ab"}};
    Messages messages;
    const MessageId id = messages.add(message).id;
    expect_all(publish(*open_with("format=cloudevents-binary"), messages));
    const std::vector<Fetched> found = fetch();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].header("cloudEvents_id"), id.to_string());
    EXPECT_EQ(found[0].header("cloudEvents_partitionkey"), "42");
    EXPECT_EQ(found[0].header("traceparent"), "00-ab");
    EXPECT_EQ(found[0].content_type, "application/json");
    EXPECT_EQ(found[0].message_id, id.to_string());
    EXPECT_EQ(found[0].type, "order.placed");
    EXPECT_EQ(found[0].exchange, "shop");
    EXPECT_EQ(found[0].routing_key, "t.x");
}

TEST_F(Rabbitmq, LeavesOutHeadersThatAreOrdersToTheServer) {
    for (const char* exchange : {"shop", ""}) {
        Messages messages;
        messages.add("orders", "a", "1");
        testing::Received message;
        message.topic = "orders";
        message.headers = {{"CC", "elsewhere"}, {"BCC", "elsewhere"}, {"cc", "x"}, {"y", "z"}};
        messages.add(message);
        messages.add("orders", "b", "3");
        RabbitmqClient(rabbitmq_server().port()).bind("orders", "shop", "orders");
        const auto broker = open(rabbitmq_server().url() + "?exchange=" + exchange);
        expect_all(publish(*broker, messages));
        const std::vector<Fetched> found = fetch();
        ASSERT_EQ(found.size(), 3U);
        EXPECT_EQ(found[1].header("CC"), "(none)");
        EXPECT_EQ(found[1].header("BCC"), "(none)");
        EXPECT_EQ(found[1].header("cc"), "x");
        EXPECT_EQ(found[1].header("y"), "z");
    }
}

TEST_F(Rabbitmq, FindsExchangeAndRoutingKeyInTheTarget) {
    expect_all(publish(*open(rabbitmq_server().url() + "?target=shop/t.{key}"), one()));
    expect_all(publish(*open(rabbitmq_server().url() + "?target=/orders"), one()));
    expect_all(publish(*open(rabbitmq_server().url() + "?exchange=&target=orders"), one()));
    const std::vector<Fetched> found = fetch();
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].routing_key, "t.k");
    EXPECT_EQ(found[1].routing_key, "orders");
}

TEST_F(Rabbitmq, RefusesWhatNoQueueTakesAndDeliversItLater) {
    Messages messages;
    messages.add("t.a", "a", "1");
    messages.add("lost.b", "b", "");
    messages.add("lost.c", "c", std::string(200'000, 'x'));
    messages.add("t.d", "d", "4");
    const auto broker = open_shop();
    const std::vector<Answer> answers = publish(*broker, messages);
    EXPECT_EQ(answers[0].verdict, Verdict::acknowledged) << answers[0].reason;
    EXPECT_EQ(answers[1].verdict, Verdict::refused);
    EXPECT_NE(answers[1].reason.find("NO_ROUTE"), std::string::npos) << answers[1].reason;
    EXPECT_EQ(answers[2].verdict, Verdict::refused);
    EXPECT_EQ(answers[3].verdict, Verdict::acknowledged);
    EXPECT_EQ(
        publish(*open_with("unroutable=unacceptable"), messages)[1].verdict, Verdict::unacceptable
    );
    static_cast<void>(fetch());
    RabbitmqClient(rabbitmq_server().port()).bind("orders", "shop", "lost.#");
    expect_all(publish(*broker, messages));
    EXPECT_EQ(fetch().size(), 4U);
}

TEST_F(Rabbitmq, RefusesOnlyWhatGoesToAnExchangeThatIsMissing) {
    Messages messages;
    testing::Received message;
    for (const char* type : {"shop", "elsewhere", "shop"}) {
        message.topic = "t";
        message.key = type;
        message.type = type;
        message.id = {};
        messages.add(message);
    }
    const auto broker = open(rabbitmq_server().url() + "?target={type}/{topic}");
    for (int round = 0; round < 2; ++round) {
        const std::vector<Answer> answers = publish(*broker, messages);
        EXPECT_EQ(answers[0].verdict, Verdict::acknowledged) << answers[0].reason;
        EXPECT_EQ(answers[1].verdict, Verdict::refused);
        EXPECT_NE(answers[1].reason.find("elsewhere"), std::string::npos) << answers[1].reason;
        EXPECT_EQ(answers[2].verdict, Verdict::acknowledged);
    }
    EXPECT_EQ(fetch().size(), 4U);
}

TEST_F(Rabbitmq, RefusesWhenTheExchangeIsGone) {
    const auto broker = open_shop();
    expect_all(publish(*broker, one()));
    RabbitmqClient client(rabbitmq_server().port());
    client.delete_exchange("shop");
    for (int round = 0; round < 2; ++round) {
        const std::vector<Answer> answers = publish(*broker, one());
        EXPECT_EQ(answers[0].verdict, Verdict::refused) << answers[0].reason;
        EXPECT_NE(answers[0].reason.find("NOT_FOUND"), std::string::npos) << answers[0].reason;
    }
    client.declare_exchange("shop");
    client.bind("orders", "shop", "t.#");
    expect_all(publish(*broker, one()));
}

TEST_F(Rabbitmq, FindsAMessageThatIsTooLarge) {
    Messages messages;
    for (int i = 0; i < 64; ++i) {
        messages.add("t", std::to_string(i), std::string(i == 40 ? 1'000'001 : 100, 'x'));
    }
    const auto broker = open_shop();
    for (int round = 0; round < 2; ++round) {
        const std::vector<Answer> answers = publish(*broker, messages);
        EXPECT_EQ(answers[40].verdict, Verdict::unacceptable) << answers[40].reason;
        EXPECT_EQ(count(answers, Verdict::acknowledged), 63U) << answers[41].reason;
        EXPECT_EQ(broker->traits().payload_bytes_max, 1'000'000U);
    }
    EXPECT_GE(fetch().size(), 2 * 63U);
}

TEST_F(Rabbitmq, TakesNoHeadersThatFitIntoNoFrame) {
    testing::Received message;
    message.topic = "t";
    for (int i = 0; i < 40; ++i) {
        message.headers.push_back({"h" + std::to_string(i), std::string(8000, 'x')});
    }
    Messages messages;
    messages.add(message);
    messages.add("t", "k", "fine");
    const std::vector<Answer> answers = publish(*open_shop(), messages);
    EXPECT_EQ(answers[0].verdict, Verdict::unacceptable);
    EXPECT_EQ(answers[1].verdict, Verdict::acknowledged) << answers[1].reason;
}

TEST_F(Rabbitmq, RefusesWhatAFullQueueRefuses) {
    RabbitmqClient client(rabbitmq_server().port());
    client.declare("full", {{"x-max-length", "2"}, {"x-overflow", "reject-publish"}});
    Messages messages;
    for (int i = 0; i < 5; ++i) messages.add("full", std::to_string(i), "x");
    const std::vector<Answer> answers =
        publish(*open(rabbitmq_server().url() + "?exchange="), messages);
    EXPECT_GE(count(answers, Verdict::refused), 2U);
    EXPECT_EQ(count(answers, Verdict::refused) + count(answers, Verdict::acknowledged), 5U);
    EXPECT_EQ(client.fetch("full").size(), count(answers, Verdict::acknowledged));
    client.remove("full");
}

TEST_F(Rabbitmq, SurvivesAKillInMidBurst) {
    Messages messages;
    for (int i = 0; i < 60'000; ++i) messages.add("t", std::to_string(i), std::string(200, 'x'));
    const auto broker = open_shop();
    std::vector<Answer> answers;
    std::jthread publisher([&] { answers = publish(*broker, messages, std::chrono::minutes(5)); });
    // More than the window holds: some are confirmed.
    EXPECT_TRUE(wait_until([] { return queued() > 5000; }, std::chrono::minutes(2)));
    rabbitmq_server().kill();
    publisher.join();
    const std::size_t acknowledged = count(answers, Verdict::acknowledged);
    EXPECT_GT(acknowledged, 0U);
    EXPECT_LT(acknowledged, answers.size());
    EXPECT_EQ(count(answers, Verdict::unanswered), answers.size() - acknowledged);
    EXPECT_FALSE(answers.back().reason.empty());
    rabbitmq_server().start();
    EXPECT_GE(queued(), acknowledged);
    expect_all(publish(*broker, one()));
}

TEST_F(Rabbitmq, StopsAtTheDeadlineWhenFrozen) {
    Messages many;
    for (int i = 0; i < 100; ++i) many.add("t", std::to_string(i), std::string(900'000, 'x'));
    const auto broker = open_shop();
    const auto second = open_shop();
    expect_all(publish(*broker, one()));
    expect_all(publish(*second, one()));
    rabbitmq_server().freeze();
    const MonoTime start = SystemClock().now();
    expect_outage(publish(*broker, one(), milliseconds(300)), "");
    // More than the buffers of a socket hold: the library is caught in a write.
    expect_outage(publish(*second, many, milliseconds(300)), "");
    EXPECT_FALSE(broker->ping(in(milliseconds(200))));
    EXPECT_LT(SystemClock().now() - start, seconds(20));
    rabbitmq_server().thaw();
    EXPECT_TRUE(broker->ping(in(seconds(20))));
    expect_all(publish(*broker, one()));
    expect_all(publish(*second, one()));
}

TEST_F(Rabbitmq, GivesUpASilentServerByItsHeartbeat) {
    const auto broker = open_with("heartbeat=3s");
    expect_all(publish(*broker, one()));
    rabbitmq_server().freeze();
    const MonoTime start = SystemClock().now();
    expect_outage(publish(*broker, one(), seconds(60)), "eartbeat");
    EXPECT_LT(SystemClock().now() - start, seconds(40));
    rabbitmq_server().thaw();
    EXPECT_TRUE(broker->ping(in(seconds(60))));
    expect_all(publish(*broker, one()));
}

TEST_F(Rabbitmq, TakesABlockedConnectionForAnOutage) {
    const auto broker = open_shop();
    expect_all(publish(*broker, one()));
    rabbitmq_server().control({"set_vm_memory_high_watermark", "0"});
    expect_outage(publish(*broker, one(), seconds(10)), "blocked");
    expect_outage(publish(*broker, one(), seconds(10)), "blocked");
    rabbitmq_server().control({"set_vm_memory_high_watermark", "0.4"});
    EXPECT_TRUE(wait_until([&] {
        return publish(*broker, one(), seconds(5)).front().verdict == Verdict::acknowledged;
    }));
}

TEST_F(Rabbitmq, RefusesWhatTheUserMayNotWrite) {
    rabbitmq_server().control({"add_user", "shopper", "secret"});
    rabbitmq_server().control({"set_permissions", "shopper", ".*", "^allowed$", ".*"});
    const auto broker = open(rabbitmq_server().url("shopper:secret@") + "?exchange=shop");
    const std::vector<Answer> answers = publish(*broker, one());
    EXPECT_EQ(answers[0].verdict, Verdict::refused) << answers[0].reason;
    EXPECT_NE(answers[0].reason.find("ACCESS_REFUSED"), std::string::npos) << answers[0].reason;
    rabbitmq_server().control({"delete_user", "shopper"});
}

// Topics may be forbidden one by one. The server's sentence about a long one is cut short: it names
// nobody, and the guilty one is found by trying.
TEST_F(Rabbitmq, RefusesOnlyTheTopicThatTheUserMayNotWrite) {
    rabbitmq_server().control({"add_user", "shopper", "secret"});
    rabbitmq_server().control({"set_permissions", "shopper", ".*", ".*", ".*"});
    rabbitmq_server().control({"set_topic_permissions", "shopper", "shop", "^t", ".*"});
    const auto broker = open(rabbitmq_server().url("shopper:secret@") + "?exchange=shop");
    for (const std::string& topic : {std::string("forbidden.x"), std::string(230, 'x')}) {
        Messages messages;
        for (int i = 0; i < 40; ++i) {
            const bool is_bad = i == 7 || i == 20;
            messages.add(is_bad ? topic : "t.x", std::to_string(i), "x");
        }
        const std::vector<Answer> answers = publish(*broker, messages);
        EXPECT_EQ(answers[7].verdict, Verdict::refused) << answers[7].reason;
        EXPECT_EQ(answers[20].verdict, Verdict::refused) << answers[20].reason;
        EXPECT_NE(answers[7].reason.find(topic.substr(0, 100)), std::string::npos);
        EXPECT_EQ(count(answers, Verdict::acknowledged), 38U) << answers[8].reason;
    }
    EXPECT_GE(queued(), 2 * 38U);
    rabbitmq_server().control({"delete_user", "shopper"});
}

TEST_F(Rabbitmq, NeverSaysThePassword) {
    const std::vector<Answer> answers =
        publish(*open(rabbitmq_server().url("guest:opensimsim@")), one());
    expect_outage(answers, "ACCESS_REFUSED");
    EXPECT_EQ(answers[0].reason.find("opensimsim"), std::string::npos) << answers[0].reason;
    expect_outage(publish(*open(rabbitmq_server().url() + "/nowhere"), one()), "nowhere");
}

TEST_F(Rabbitmq, TriesEveryServer) {
    const std::string dead = "amqp://127.0.0.1:" + std::to_string(free_port());
    const std::string alive = "127.0.0.1:" + std::to_string(rabbitmq_server().port());
    expect_all(publish(*open(dead + "," + alive + "?exchange=shop"), one()));
}

TEST_F(Rabbitmq, SaysWhyThereIsNoConnection) {
    EXPECT_EQ(
        open("amqp://127.0.0.1:1")->ping(in(seconds(10))).error().text,
        "cannot connect to 127.0.0.1:1: Connection refused"
    );
}

TEST_F(Rabbitmq, VerifiesTheServersCertificate) {
    const Certificates other("DNS:localhost");
    const auto ping = [&](const std::string& host, const std::string& parameters) {
        return open(
                   "amqps://" + host + ":" + std::to_string(rabbitmq_server().tls_port()) + "?" +
                   parameters
        )
            ->ping(in(seconds(10)));
    };
    const std::string trusted = "tls_ca=" + rabbitmq_server().certificates().authority();
    const Result<void> good = ping("localhost", trusted);
    EXPECT_TRUE(good) << good.error().text;
    EXPECT_FALSE(ping("127.0.0.1", trusted));  // not its name
    EXPECT_FALSE(ping("localhost", "tls_ca=" + other.authority()));
    EXPECT_FALSE(ping("localhost", ""));
    EXPECT_EQ(
        ping("localhost", "tls_ca=/does/not/exist").error().text,
        "cannot read tls_ca /does/not/exist: No such file or directory"
    );
    rabbitmq_server().freeze();
    const MonoTime start = SystemClock().now();
    EXPECT_FALSE(open("amqps://localhost:" + std::to_string(rabbitmq_server().tls_port()))
                     ->ping(in(milliseconds(300))));
    EXPECT_LT(SystemClock().now() - start, seconds(20));
    rabbitmq_server().thaw();
}

TEST(RabbitmqWatchdog, ShutsASocketDownAtTheDeadlineOnly) {
    rabbitmq::Watchdog dog;
    const auto is_down = [](const Descriptor& socket) {
        char byte = 0;
        return ::recv(socket.get(), &byte, 1, MSG_DONTWAIT) == 0;
    };
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    const Descriptor mine(pair[0]);
    const Descriptor theirs(pair[1]);
    { const rabbitmq::Watchdog::Shift shift(dog, mine.get(), in(seconds(1))); }
    { const rabbitmq::Watchdog::Shift shift(dog, mine.get(), in(seconds(60))); }
    EXPECT_FALSE(wait_until([&] { return is_down(mine); }, milliseconds(1500)));
    const rabbitmq::Watchdog::Shift shift(dog, mine.get(), in(milliseconds(20)));
    EXPECT_TRUE(wait_until([&] { return is_down(mine); }, seconds(10)));
}

TEST(RabbitmqClassify, KnowsWhatIsWhose) {
    const auto verdict = [](std::uint16_t code, const char* text = "") {
        return rabbitmq::classify({code, text});
    };
    EXPECT_EQ(verdict(404, "NOT_FOUND - no exchange 'x' in vhost '/'"), Verdict::refused);
    EXPECT_EQ(verdict(403, "ACCESS_REFUSED"), Verdict::refused);
    EXPECT_EQ(verdict(311), Verdict::unacceptable);
    EXPECT_EQ(
        verdict(406, "PRECONDITION_FAILED - message size 9 is larger than configured max size 8"),
        Verdict::unacceptable
    );
    EXPECT_EQ(verdict(406, "PRECONDITION_FAILED - other"), Verdict::refused);
    for (const int code : {0, 200, 320, 501, 504, 505, 506, 530, 540, 541}) {
        EXPECT_EQ(verdict(static_cast<std::uint16_t>(code)), Verdict::unanswered) << code;
    }
}

TEST(RabbitmqClassify, ReadsTheServersSentences) {
    const char* missing = "NOT_FOUND - no exchange 'shop' in vhost '/'";
    EXPECT_TRUE(rabbitmq::is_about(missing, "shop", "t"));
    EXPECT_FALSE(rabbitmq::is_about(missing, "shopping", "t"));
    EXPECT_FALSE(rabbitmq::is_about(missing, "", "t"));
    const char* topic = "write access to topic 'a' in exchange 'it's' in vhost '/' refused";
    EXPECT_TRUE(rabbitmq::is_about(topic, "it's", "a"));
    EXPECT_FALSE(rabbitmq::is_about(topic, "it's", "b"));
    EXPECT_FALSE(rabbitmq::is_about(topic, "it", "a"));
    EXPECT_FALSE(rabbitmq::is_about("PRECONDITION_FAILED - other", "", ""));
    const rabbitmq::Sizes sizes =
        rabbitmq::sizes_in("message size 2000 is larger than configured max size 1000");
    EXPECT_EQ(sizes.message, 2000U);
    EXPECT_EQ(sizes.most, 1000U);
    EXPECT_EQ(rabbitmq::sizes_in("message size large").message, 0U);
}

TEST(RabbitmqUrl, ReadsOptions) {
    const Result<RabbitmqOptions> options =
        parse_rabbitmq_url("amqp://me:pw@a,b:5000/%2fshop?unroutable=unacceptable&heartbeat=5s");
    ASSERT_TRUE(options) << options.error().text;
    EXPECT_EQ(wire::to_string(options->endpoints[0]), "a:5672");
    EXPECT_EQ(wire::to_string(options->endpoints[1]), "b:5000");
    EXPECT_EQ(options->vhost, "/shop");
    EXPECT_EQ(options->user, "me");
    EXPECT_EQ(options->unroutable, Unroutable::unacceptable);
    EXPECT_EQ(options->heartbeat, seconds(5));
    EXPECT_EQ(parse_rabbitmq_url("amqps://a")->endpoints[0].port, 5671);
    EXPECT_EQ(parse_rabbitmq_url("amqp://a")->user, "guest");
    EXPECT_EQ(parse_rabbitmq_url("amqp://a")->vhost, "/");
}

TEST(RabbitmqUrl, SaysWhatItCannotDo) {
    expect_complaints(
        parse_rabbitmq_url,
        {{"amqp://a?unroutable=x", "refused"},
         {"amqp://a?tls_key=x", "belong together"},
         {"amqp://a?tls_ca=x", "amqps:"},
         {"amqp://a?target={x}/y", "{x}"},
         {"amqp://a?target=x/", "empty"},
         {"amqp://a?heartbeat=10ms", "1s"},
         {"http://a", "amqp:"}}
    );
}

}  // namespace
}  // namespace outrider::live
