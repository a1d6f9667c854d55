#include <gtest/gtest.h>

#include "brokers/kafka/broker.h"
#include "brokers/kafka/classify.h"
#include "brokers/kafka/facts.h"
#include "brokers/kafka/options.h"
#include "brokers/kafka/producer.h"
#include "brokers/kafka/spread.h"
#include "brokers/kafka/troubles.h"
#include "brokers/kafka/writer.h"
#include "brokers/support/complaints.h"
#include "core/clock.h"

namespace outrider {
namespace {

TEST(KafkaUrl, ReadsEverything) {
    const auto options = parse_kafka_url(
        "kafkas://me:p%40ss@a,b:9093?sasl=scram-sha-256&compression=zstd&partitioner=crc32"
        "&tls_ca=/ca&tls_cert=/c&tls_key=/k&target=shop.{topic}"
    );
    ASSERT_TRUE(options) << options.error().text;
    EXPECT_EQ(wire::to_string(options->endpoints[0]), "a:9092");
    EXPECT_EQ(wire::to_string(options->endpoints[1]), "b:9093");
    EXPECT_EQ(options->password, "p@ss");
    EXPECT_EQ(options->sasl, "SCRAM-SHA-256");
    EXPECT_EQ(options->compression, "zstd");
    EXPECT_EQ(options->partitioner, KafkaOptions::Partitioner::crc32);
    EXPECT_EQ(options->tls_ca, "/ca");
    EXPECT_EQ(options->wire.target, "shop.{topic}");
    EXPECT_TRUE(options->tls);
    EXPECT_FALSE(parse_kafka_url("kafka://a")->tls);
}

TEST(KafkaUrl, SaysWhatItCannotDo) {
    live::expect_complaints(
        parse_kafka_url,
        {{"kafka://a/topic", "target"},
         {"kafka://geheim@a", "user and password"},
         {"kafka://a?tls_cert=x", "belong together"},
         {"kafka://a?tls_ca=x", "kafkas:"},
         {"kafka://a?target=a/{topic}", "letters"},
         {"kafka://a?compression=rar", "gzip"},
         {"kafka://a?acks=1", "unknown parameter acks"},
         {"http://a", "kafka:"}}
    );
}

TEST(KafkaUrl, NamesTheFileThatIsMissing) {
    const auto options = parse_kafka_url("kafkas://127.0.0.1:1?tls_ca=/does/not/exist");
    const std::unique_ptr<Broker> broker = std::move(make_kafka_broker(*options)->open()).value();
    EXPECT_EQ(
        broker->ping(SystemClock().now()).error().text,
        "cannot read tls_ca /does/not/exist: No such file or directory"
    );
}

TEST(KafkaTopic, SaysWhatIsWrongWithAName) {
    EXPECT_EQ(kafka::flaw_of("a.B_c-1"), "");
    EXPECT_EQ(kafka::flaw_of(std::string(249, 'x')), "");
    for (const std::string& name :
         {std::string(),
          std::string("."),
          std::string(".."),
          std::string("a b"),
          std::string("\xc3\xbc"),
          std::string(250, 'x')}) {
        EXPECT_NE(kafka::flaw_of(name), "") << name;
    }
}

// The hashes of Java's client, from its own tests.
TEST(KafkaPartition, IsThatOfJavasClient) {
    const kafka::Writer writer(KafkaOptions{}, *wire::Target::parse("{topic}"));
    const auto expected = [](std::uint32_t hash, std::uint32_t count) {
        return static_cast<std::int32_t>((hash & 0x7fffffffU) % count);
    };
    EXPECT_EQ(
        writer.partition_of("21", 1000), expected(static_cast<std::uint32_t>(-973932308), 1000)
    );
    EXPECT_EQ(
        writer.partition_of("foobar", 7), expected(static_cast<std::uint32_t>(-790332482), 7)
    );
    EXPECT_EQ(writer.partition_of("abc", 64), expected(479470107, 64));
}

TEST(KafkaFacts, SayHowSafeAnAcknowledgementIs) {
    using kafka::durability_of;
    EXPECT_NE(durability_of("3", "2").find("at least 2 of 3"), std::string::npos);
    EXPECT_NE(durability_of("1", "1").find("one machine"), std::string::npos);
    EXPECT_NE(durability_of("", "").find("not told"), std::string::npos);
}

TEST(KafkaMeaning, NeverTakesSilenceForAnAnswer) {
    using kafka::Meaning;
    using kafka::meaning_of;
    constexpr auto kMaybe = RD_KAFKA_MSG_STATUS_POSSIBLY_PERSISTED;
    constexpr auto kNo = RD_KAFKA_MSG_STATUS_NOT_PERSISTED;
    EXPECT_EQ(meaning_of(RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, kMaybe), Meaning::unknown);
    EXPECT_EQ(meaning_of(RD_KAFKA_RESP_ERR__TRANSPORT, kMaybe), Meaning::unknown);
    EXPECT_EQ(meaning_of(RD_KAFKA_RESP_ERR__PURGE_INFLIGHT, kMaybe), Meaning::unknown);
    EXPECT_EQ(meaning_of(RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, kNo), Meaning::partition);
    EXPECT_EQ(
        meaning_of(RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND, kMaybe), Meaning::partition
    );
    EXPECT_EQ(meaning_of(RD_KAFKA_RESP_ERR__PURGE_QUEUE, kNo), Meaning::unsent);
    EXPECT_EQ(meaning_of(RD_KAFKA_RESP_ERR__FATAL, kNo), Meaning::unsent);
    EXPECT_EQ(meaning_of(RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, kNo), Meaning::messages);
    EXPECT_EQ(meaning_of(RD_KAFKA_RESP_ERR_INVALID_RECORD, kNo), Meaning::messages);
    EXPECT_EQ(meaning_of(RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, kNo), Meaning::topic);
    EXPECT_EQ(meaning_of(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, kNo), Meaning::topic);
    EXPECT_EQ(meaning_of(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, kNo), Meaning::topic);
    EXPECT_EQ(meaning_of(RD_KAFKA_RESP_ERR__DESTROY, kNo), Meaning::topic);
    EXPECT_EQ(meaning_of(RD_KAFKA_RESP_ERR__DESTROY, kMaybe), Meaning::unknown);
}

TEST(KafkaMeaning, KnowsWhatLeavesAGap) {
    using kafka::leaves_gap;
    EXPECT_TRUE(leaves_gap(RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS));
    EXPECT_TRUE(leaves_gap(RD_KAFKA_RESP_ERR__TRANSPORT));
    EXPECT_TRUE(leaves_gap(RD_KAFKA_RESP_ERR__MSG_TIMED_OUT));
    EXPECT_FALSE(leaves_gap(RD_KAFKA_RESP_ERR_NO_ERROR));
    EXPECT_FALSE(leaves_gap(RD_KAFKA_RESP_ERR__PURGE_QUEUE));
    EXPECT_FALSE(leaves_gap(RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC));
}

TEST(KafkaSilence, IsAThirdOfABurst) {
    using std::chrono::seconds;
    EXPECT_EQ(kafka::silence_max(seconds(30)), seconds(10));
    EXPECT_EQ(kafka::silence_max(seconds(1)), seconds(3));
    EXPECT_EQ(kafka::silence_max(seconds(-1)), seconds(3));
    EXPECT_EQ(kafka::silence_max(seconds(600)), seconds(20));
}

TEST(KafkaSpread, StaysForManyMessagesAndThenGoesOn) {
    const auto all = [](std::int32_t) { return true; };
    kafka::Spread spread;
    const MonoTime first = MonoTime() + Duration(1);
    std::vector<std::size_t> counts(3);
    for (std::size_t i = 0; i < 2 * kafka::kSpreadMessages; ++i) {
        ++counts[static_cast<std::size_t>(kafka::next_partition(spread, 3, first, all))];
    }
    EXPECT_EQ(
        counts, (std::vector<std::size_t>{0, kafka::kSpreadMessages, kafka::kSpreadMessages})
    );
    EXPECT_EQ(kafka::next_partition(spread, 3, first + Duration(1), all), 0);
    EXPECT_EQ(kafka::next_partition(spread, 3, first + Duration(2), all), 1);
    EXPECT_EQ(kafka::next_partition(spread, 3, first + Duration(2), all), 1);
}

TEST(KafkaSpread, PassesOverWhatTakesNothing) {
    const auto only = [](std::int32_t wanted) {
        return [wanted](std::int32_t partition) { return partition == wanted; };
    };
    kafka::Spread spread;
    for (const int wanted : {2, 0, 1, 1, 2}) {
        EXPECT_EQ(kafka::next_partition(spread, 3, MonoTime(), only(wanted)), wanted);
    }
    const std::int32_t any = kafka::next_partition(spread, 3, MonoTime(), only(7));
    EXPECT_TRUE(any >= 0 && any < 3) << any;
}

TEST(KafkaTroubles, ArePartitionsOwnOnceAnotherTookSomething) {
    using std::chrono::seconds;
    const MonoTime start = MonoTime() + seconds(1000);
    kafka::Troubles troubles;
    troubles.took(start - seconds(1));
    troubles.note("t", 1, "why", start, seconds(20));
    EXPECT_FALSE(troubles.is_own("t", 1)) << "nobody took anything since";
    EXPECT_EQ(troubles.reason("t", 1), "why");
    EXPECT_TRUE(troubles.is_resting("t", 1, start + seconds(19)));
    EXPECT_FALSE(troubles.is_resting("t", 1, start + seconds(20)));
    EXPECT_FALSE(troubles.is_resting("t", 0, start));
    troubles.took(start + seconds(1));
    EXPECT_TRUE(troubles.is_own("t", 1));
    troubles.note("t", 1, "still", start + seconds(30), seconds(20));
    EXPECT_TRUE(troubles.is_own("t", 1)) << "the same trouble";
    troubles.note("t", 1, "again", start + seconds(3000), seconds(20));
    EXPECT_FALSE(troubles.is_own("t", 1)) << "another one";
    troubles.forget("t", 1);
    EXPECT_TRUE(troubles.empty());
}

}  // namespace
}  // namespace outrider
