#include <atomic>
#include <cstdlib>
#include <thread>

#include <librdkafka/rdkafka.h>

#include "outrider/brokers.h"
#include "outrider/error.h"

#include "brokers/kafka/writer.h"
#include "brokers/kafka_fixture.h"
#include "support/environment.h"

namespace outrider::live {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(Kafka, PublishesAWholeBurstInOrder) {
    constexpr int kKeys = 300;
    constexpr int kRounds = 200;  // more than the library's queue takes at once
    Messages messages;
    for (int i = 0; i < kRounds; ++i) {
        for (int k = 0; k < kKeys; ++k) messages.add(topic_, std::to_string(k), std::to_string(i));
    }
    const auto broker = open();
    expect_all(publish(*broker, messages));
    EXPECT_TRUE(broker->traits().keeps_order);
    const auto records = read();
    EXPECT_EQ(records.size(), std::size_t{kKeys * kRounds});
    const auto counts = expect_order(records);
    EXPECT_EQ(counts.size(), std::size_t{kKeys});
    for (const auto& [key, count] : counts) EXPECT_EQ(count, kRounds);
    std::set<int> partitions;
    for (const KafkaRecord& record : records) partitions.insert(record.partition);
    EXPECT_EQ(partitions.size(), 4U);
}

TEST_F(Kafka, PromisesNoOrderWhereAKeyGoesToSeveralTopics) {
    EXPECT_FALSE(open_with("target={topic}.{type}")->traits().keeps_order);
    EXPECT_TRUE(open_with("target=x.{topic}")->traits().keeps_order);
}

TEST_F(Kafka, WritesCloudEventsInBinaryMode) {
    testing::Received message;
    message.topic = topic_;
    message.key = "42";
    message.content_type = "application/json";
    message.payload = "{}";
    message.headers = {{"traceparent", "00-ab"}};
    Messages messages;
    const MessageId id = messages.add(message).id;
    expect_all(publish(*open_with("format=cloudevents-binary&source=/shop"), messages));
    const auto found = read();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].header("ce_id"), id.to_string());
    EXPECT_EQ(found[0].header("ce_source"), "/shop");
    EXPECT_EQ(found[0].header("ce_type"), topic_);
    EXPECT_EQ(found[0].header("ce_partitionkey"), "42");
    EXPECT_EQ(found[0].header("content-type"), "application/json");
    EXPECT_EQ(found[0].key, "42");
    EXPECT_EQ(found[0].payload, "{}");
}

TEST_F(Kafka, WritesCloudEventsInStructuredMode) {
    Messages messages;
    for (int i = 0; i < 100; ++i) messages.add(topic_, "k", "payload " + std::to_string(i));
    expect_all(publish(*open_with("format=cloudevents-structured"), messages));
    const auto found = read();
    ASSERT_EQ(found.size(), 100U);
    for (std::size_t i = 0; i < found.size(); ++i) {
        const std::string id = messages.envelopes()[i].id.to_string();
        EXPECT_NE(found[i].payload.find("\"id\":\"" + id + "\""), std::string::npos);
        EXPECT_EQ(found[i].header("content-type"), "application/cloudevents+json");
    }
}

TEST_F(Kafka, RefusesAnUnknownTopicAndDeliversWhenItIsThere) {
    Messages messages;
    messages.add(topic_, "a", "1");
    messages.add(topic_ + "-late", "b", "2");
    messages.add(topic_ + "-late", "c", "3");
    messages.add(topic_, "d", "4");
    messages.add("no topic!", "e", "5");
    const auto broker = open();
    const std::vector<Answer> answers = publish(*broker, messages);
    EXPECT_EQ(answers[0].verdict, Verdict::acknowledged) << answers[0].reason;
    EXPECT_EQ(answers[1].verdict, Verdict::refused);
    EXPECT_NE(answers[1].reason.find(topic_ + "-late"), std::string::npos) << answers[1].reason;
    EXPECT_EQ(answers[2].verdict, Verdict::refused);
    EXPECT_EQ(answers[3].verdict, Verdict::acknowledged) << answers[3].reason;
    EXPECT_EQ(answers[4].verdict, Verdict::refused);
    EXPECT_NE(answers[4].reason.find("'no topic!'"), std::string::npos) << answers[4].reason;
    const std::string late = add_topic("late", 1);
    const std::vector<Answer> again = publish(*broker, messages);
    EXPECT_EQ(count(again, Verdict::acknowledged), 4U) << again[1].reason;
    EXPECT_EQ(read(late).size(), 2U);
}

TEST_F(Kafka, RefusesWhenATopicIsDeletedAndGoesOnWhenItIsBack) {
    const auto broker = open();
    expect_all(publish(*broker, one()));
    const KafkaAdmin admin(kafka_server().address());
    admin.delete_topic(topic_);
    std::vector<Answer> answers;
    EXPECT_TRUE(wait_until([&] {
        answers = publish(*broker, one());
        return answers[0].verdict != Verdict::acknowledged;
    }));
    EXPECT_EQ(answers[0].verdict, Verdict::refused) << answers[0].reason;
    admin.create_topic(topic_, 2);
    EXPECT_TRUE(wait_until([&] {
        answers = publish(*broker, one());
        return answers[0].verdict == Verdict::acknowledged;
    })) << answers[0].reason;
}

// failures.md F56: one oversize among 64, with a client that is new to the topic and with one that
// is not.
TEST_F(Kafka, FindsAMessageThatIsTooLarge) {
    const std::string small = add_topic("small", 2, {"max.message.bytes", "20000"});
    const auto broker = open();
    for (const int bad : {0, 40}) {
        Messages messages;
        for (int i = 0; i < 64; ++i) {
            const std::size_t size = i == bad ? 30'000 : 10;
            messages.add(small, "key " + std::to_string(i), std::string(size, 'x'));
        }
        const std::vector<Answer> answers = publish(*broker, messages);
        EXPECT_EQ(count(answers, Verdict::acknowledged), 63U);
        const Answer& answer = answers[static_cast<std::size_t>(bad)];
        EXPECT_EQ(answer.verdict, Verdict::unacceptable) << answer.reason;
    }
    EXPECT_EQ(read(small).size(), 126U);
}

TEST_F(Kafka, AcceptsNothingOfAKeyBehindItsFailure) {
    const std::string small = add_topic("small", 1, {"max.message.bytes", "20000"});
    const auto broker = open();
    int before = 0;
    for (const int bad : {0, 700}) {
        Messages messages;
        for (int i = 0; i < 2000; ++i) {
            messages.add(small, "k", i == bad ? std::string(30'000, 'x') : std::string(300, 'y'));
        }
        const std::vector<Answer> answers = publish(*broker, messages);
        const auto place = static_cast<std::size_t>(bad);
        for (std::size_t i = 0; i < place; ++i) {
            ASSERT_EQ(answers[i].verdict, Verdict::acknowledged) << i << answers[i].reason;
        }
        EXPECT_EQ(answers[place].verdict, Verdict::unacceptable) << answers[place].reason;
        for (std::size_t i = place + 1; i < answers.size(); ++i) {
            ASSERT_EQ(answers[i].verdict, Verdict::unanswered) << i;
        }
        before += bad;
        EXPECT_EQ(read(small).size(), static_cast<std::size_t>(before));
    }
}

TEST_F(Kafka, MakesBatchesThatATopicTakes) {
    const std::string small = add_topic("small", 1, {"max.message.bytes", "300000"});
    const auto broker = open();
    Messages messages;
    for (int i = 0; i < 2000; ++i) messages.add(small, std::to_string(i), std::string(1000, 'x'));
    for (int i = 0; i < 4; ++i) expect_all(publish(*broker, messages, std::chrono::minutes(5)));
    EXPECT_EQ(read(small).size(), 8000U);
}

TEST_F(Kafka, FindsAMessageWithoutAKeyWhereOneIsNeeded) {
    const std::string compact = add_topic("compact", 1, {"cleanup.policy", "compact"});
    Messages messages;
    for (int i = 0; i < 50; ++i) messages.add(compact, i % 10 == 3 ? "" : "k", "x");
    // Whatever has no key has no order either: nobody waits for it.
    const std::vector<Answer> answers = publish(*open(), messages);
    EXPECT_EQ(count(answers, Verdict::acknowledged), 45U);
    EXPECT_EQ(count(answers, Verdict::unacceptable), 5U);
    EXPECT_EQ(read(compact).size(), 45U);
}

TEST_F(Kafka, LogsInAndRefusesWhatTheUserMayNotWrite) {
    const std::string forbidden = add_topic("forbidden", 1);
    KafkaAdmin(kafka_server().address()).deny_writing("shop", forbidden);
    const std::string place = "@127.0.0.1:" + std::to_string(kafka_server().login_port());
    Messages messages;
    messages.add(topic_, "a", "1");
    messages.add(forbidden, "b", "2");
    messages.add(topic_, "c", "3");
    const auto broker = open_kafka("kafka://shop:sesame" + place);
    std::vector<Answer> answers;
    // Rules reach the broker a moment after they were made.
    EXPECT_TRUE(wait_until([&] {
        answers = publish(*broker, messages);
        return answers[1].verdict == Verdict::refused;
    })) << answers[1].reason;
    EXPECT_NE(answers[1].reason.find(forbidden), std::string::npos) << answers[1].reason;
    EXPECT_EQ(answers[0].verdict, Verdict::acknowledged) << answers[0].reason;
    EXPECT_EQ(answers[2].verdict, Verdict::acknowledged) << answers[2].reason;
}

// Debian's librdkafka computes SCRAM in a way that Kafka 4 does not take any more.
TEST_F(Kafka, LogsInWithScramOrSaysWhatItTakes) {
    const std::string place = "@127.0.0.1:" + std::to_string(kafka_server().login_port());
    const auto answers =
        publish(*open_kafka("kafka://shop2:sesame2" + place + "?sasl=scram-sha-512"), one());
    if (rd_kafka_version() >= 0x02060100) {
        expect_all(answers);
    } else {
        expect_outage(answers, "2.6.1");
    }
}

TEST_F(Kafka, NeverSaysThePassword) {
    const std::string place = "@127.0.0.1:" + std::to_string(kafka_server().login_port());
    for (const std::string how : {"", "?sasl=scram-sha-512"}) {
        const auto answers = publish(*open_kafka("kafka://shop:opensimsim" + place + how), one());
        expect_outage(answers, "uthenticat");
        EXPECT_EQ(answers[0].reason.find("opensimsim"), std::string::npos) << answers[0].reason;
    }
    // Who does not log in where one must is not let in.
    expect_outage(publish(*open_kafka("kafka://" + place.substr(1)), one(), seconds(3)), "");
}

TEST_F(Kafka, VerifiesTheServersCertificate) {
    const Certificates other("IP:127.0.0.1");
    const std::string port = std::to_string(kafka_server().tls_port());
    const auto ping = [&](const std::string& host, const std::string& authority) {
        const auto broker = open_kafka("kafkas://" + host + ":" + port + "?tls_ca=" + authority);
        return broker->ping(in(seconds(60)));
    };
    const std::string good = kafka_server().certificates().authority();
    const Result<void> trusted = ping("127.0.0.1", good);
    EXPECT_TRUE(trusted) << trusted.error().text;
    EXPECT_FALSE(ping("127.0.0.1", other.authority()));
    EXPECT_FALSE(ping("localhost", good));  // a name that the certificate does not have
    EXPECT_FALSE(ping("127.0.0.1", "/nowhere/ca.pem"));
    EXPECT_FALSE(open_kafka("kafkas://127.0.0.1:" + port)->ping(in(seconds(10))));
    EXPECT_FALSE(open_kafka("kafka://127.0.0.1:" + port)->ping(in(seconds(2))));
    expect_all(publish(*open_kafka("kafkas://127.0.0.1:" + port + "?tls_ca=" + good), one()));
}

TEST_F(Kafka, TriesEveryBrokerThatIsNamed) {
    const std::string dead = "kafka://127.0.0.1:" + std::to_string(free_port());
    expect_all(publish(*open_kafka(dead + "," + kafka_server().address()), one()));
}

// Old brokers and the library have disagreed about this before.
TEST_F(Kafka, Compresses) {
    const std::string payload(100'000, 'x');
    for (const std::string codec : {"gzip", "snappy", "lz4", "zstd"}) {
        const std::string topic = add_topic(codec, 1, {"max.message.bytes", "20000"});
        Messages messages;
        for (int i = 0; i < 3; ++i) messages.add(topic, "k", payload);
        // Only what was compressed fits.
        expect_all(publish(*open_with("compression=" + codec), messages));
        const auto found = read(topic);
        ASSERT_EQ(found.size(), 3U);
        EXPECT_EQ(found[2].payload, payload);
    }
}

TEST_F(Kafka, IsOpenToPrograms) {
    EXPECT_TRUE((*kafka_broker(kafka_server().url())->open())->ping(in(seconds(30))));
    EXPECT_THROW(static_cast<void>(kafka_broker("kafka://a?wrong=1")), Failure);
}

TEST_F(Kafka, SaysWhatItIs) {
    const Result<BrokerFacts> facts = open()->describe(in(seconds(30)));
    ASSERT_TRUE(facts) << facts.error().text;
    EXPECT_NE(facts->server.find("cluster b3V0cmlkZXItdGVzdHMtMQ, 1 broker"), std::string::npos)
        << facts->server;
    EXPECT_NE(facts->durability.find("one machine"), std::string::npos) << facts->durability;
}

TEST_F(Kafka, StopsAtTheDeadlineWhenFrozen) {
    Messages many;
    for (int i = 0; i < 3000; ++i) many.add(topic_, std::to_string(i % 30), std::to_string(i / 30));
    const auto broker = open();
    expect_all(publish(*broker, many));
    kafka_server().freeze();
    const MonoTime start = SystemClock().now();
    expect_outage(publish(*broker, many, milliseconds(500)), "");
    expect_outage(publish(*broker, many, milliseconds(500)), "");
    EXPECT_FALSE(broker->ping(in(milliseconds(300))));
    EXPECT_LT(SystemClock().now() - start, seconds(30));
    kafka_server().thaw();
    EXPECT_TRUE(broker->ping(in(seconds(60))));
    EXPECT_TRUE(wait_until([&] {
        return count(publish(*broker, many), Verdict::acknowledged) == many.envelopes().size();
    }));
    const auto counts = expect_order(read());
    for (const auto& [key, count] : counts) EXPECT_EQ(count, 100);
}

// One publisher that offers everything until it is acknowledged, as the relay does: a key goes on
// behind its last acknowledged message. What it says is compared with what kcat finds.
class Load {
public:
    Load(std::string topic, int keys)
        : topic_(std::move(topic)),
          next_(static_cast<std::size_t>(keys)) {}

    void run(const std::atomic<bool>& stop) {
        const auto broker = open_kafka(kafka_server().url());
        while (!stop) {
            // As the circuit of a relay does.
            if (!turn(*broker)) std::this_thread::sleep_for(milliseconds(100));
        }
        EXPECT_TRUE(wait_until([&] { return turn(*broker); }, seconds(60)));
    }

    void expect_everything() const {
        const auto records = read_topic(kafka_server().address(), topic_);
        auto counts = expect_order(records);
        for (std::size_t key = 0; key < next_.size(); ++key) {
            EXPECT_GE(counts[std::to_string(key)], next_[key]) << "key " << key << " has a loss";
        }
        // At most what was in flight comes twice.
        std::size_t first = 0;
        for (const auto& [key, count] : counts) first += static_cast<std::size_t>(count);
        EXPECT_LE(records.size() - first, repeats_max_);
        EXPECT_GT(acknowledged_, 0);
    }

    [[nodiscard]] int acknowledged() const { return acknowledged_; }

private:
    static constexpr int kPerKey = 20;

    // Whether all of it was acknowledged.
    bool turn(Broker& broker) {
        Messages messages;
        for (int i = 0; i < kPerKey; ++i) {
            for (std::size_t key = 0; key < next_.size(); ++key) {
                messages.add(topic_, std::to_string(key), std::to_string(next_[key] + i));
            }
        }
        const std::vector<Answer> answers = publish(broker, messages, seconds(5));
        std::vector<bool> failed(next_.size());
        for (std::size_t at = 0; at < answers.size(); ++at) {
            const std::size_t key = at % next_.size();
            EXPECT_TRUE(
                answers[at].verdict == Verdict::acknowledged ||
                answers[at].verdict == Verdict::unanswered
            ) << answers[at].reason;
            if (answers[at].verdict != Verdict::acknowledged) failed[key] = true;
            if (failed[key]) continue;
            ++next_[key];
            ++acknowledged_;
        }
        const bool is_whole = count(answers, Verdict::acknowledged) == answers.size();
        if (!is_whole) repeats_max_ += answers.size();
        return is_whole;
    }

    const std::string topic_;
    std::vector<int> next_;
    std::atomic<int> acknowledged_ = 0;
    std::size_t repeats_max_ = 0;
};

void wait_for_load(const Load& load) {
    const int before = load.acknowledged();
    EXPECT_TRUE(wait_until([&] { return load.acknowledged() > before + 5000; }, seconds(60)));
}

TEST_F(Kafka, LosesNothingWhenKilledAndRestartedUnderLoad) {
    Load load(topic_, 50);
    std::atomic<bool> stop = false;
    std::jthread publisher([&] { load.run(stop); });
    for (std::uint64_t i = 0; i < number_from("BROKER_KILLS", 1); ++i) {
        wait_for_load(load);
        kafka_server().kill();
        kafka_server().start();
    }
    wait_for_load(load);
    stop = true;
    publisher.join();
    load.expect_everything();
}

TEST_F(Kafka, LosesNothingWhenFrozenAndThawedUnderLoad) {
    Load load(topic_, 50);
    std::atomic<bool> stop = false;
    std::jthread publisher([&] { load.run(stop); });
    for (std::uint64_t i = 0; i < number_from("BROKER_KILLS", 1); ++i) {
        wait_for_load(load);
        kafka_server().freeze();
        std::this_thread::sleep_for(seconds(i % 2 == 0 ? 6 : 1)
        );  // beyond the deadline, and within
        kafka_server().thaw();
    }
    wait_for_load(load);
    stop = true;
    publisher.join();
    load.expect_everything();
}

// The last, since the server stays as it is then.
TEST_F(Kafka, WaitsForATopicThatTheClusterCreates) {
    kafka_server().kill();
    kafka_server().start("auto.create.topics.enable=true");
    Messages messages;
    messages.add(topic_ + "-new", "k", "x");
    const auto broker = open();
    std::vector<Answer> answers;
    // Within a second it is there, unless the machine has much else to do; then it is refused, and
    // the relay would offer it again.
    EXPECT_TRUE(wait_until([&] {
        answers = publish(*broker, messages);
        return answers[0].verdict != Verdict::refused;
    }));
    expect_all(answers);
    EXPECT_EQ(read(topic_ + "-new").size(), 1U);
}

}  // namespace
}  // namespace outrider::live
