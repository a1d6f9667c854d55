#include <array>

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include "brokers/kafka_fixture.h"

namespace outrider::live {
namespace {

using std::chrono::seconds;

constexpr std::int16_t kProduce = 0;
constexpr std::int16_t kInitProducerId = 22;

// Errors that a real broker gives on bad days only: librdkafka's own cluster of three, which
// answers with what it is told to.
class KafkaErrors : public ::testing::Test {
protected:
    KafkaErrors() {
        std::array<char, 256> text{};
        rd_kafka_conf_t* conf = rd_kafka_conf_new();
        rd_kafka_conf_set_log_cb(conf, [](const rd_kafka_t*, int, const char*, const char*) {});
        handle_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text.data(), text.size());
        cluster_ = rd_kafka_mock_cluster_new(handle_, 3);
        rd_kafka_mock_topic_create(cluster_, "t", 4, 3);
        broker_ = open_kafka(url());
    }
    ~KafkaErrors() override {
        broker_.reset();
        rd_kafka_mock_cluster_destroy(cluster_);
        rd_kafka_destroy(handle_);
    }

    [[nodiscard]] std::string url() const {
        return std::string("kafka://") + rd_kafka_mock_cluster_bootstraps(cluster_);
    }

    void push(std::int16_t request, const std::vector<rd_kafka_resp_err_t>& errors) const {
        rd_kafka_mock_push_request_errors_array(cluster_, request, errors.size(), errors.data());
    }

    // A topic with one partition.
    void narrow(const char* name) const { rd_kafka_mock_topic_create(cluster_, name, 1, 3); }

    // Too large for two of them to share a request.
    static Messages large(const std::string& topic, const std::vector<std::string>& keys) {
        Messages messages;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            messages.add(topic, keys[i], std::to_string(i) + std::string(600'000, ' '));
        }
        return messages;
    }

    // The payloads, which are numbers.
    [[nodiscard]] std::vector<int> stored(const std::string& topic) const {
        std::vector<int> numbers;
        for (const auto& record : read_topic(rd_kafka_mock_cluster_bootstraps(cluster_), topic)) {
            numbers.push_back(std::stoi(record.payload));
        }
        return numbers;
    }

    static Messages many() {
        Messages messages;
        for (int i = 0; i < 1000; ++i) messages.add("t", std::to_string(i % 20), "x");
        return messages;
    }

    rd_kafka_t* handle_ = nullptr;
    rd_kafka_mock_cluster_t* cluster_ = nullptr;
    std::unique_ptr<Broker> broker_;
};

TEST_F(KafkaErrors, RidesOutWhatTheLibraryMayTryAgain) {
    expect_all(publish(*broker_, many()));
    push(
        kProduce,
        {RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
         RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
         RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND,
         RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT}
    );
    expect_all(publish(*broker_, many(), seconds(60)));
    push(kInitProducerId, {RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS});
    expect_all(publish(*broker_, many(), seconds(60)));
}

// A partition that knows nothing of a producer takes whatever comes first; the library would then
// take the acknowledgement of the second request for one of the first, too.
TEST_F(KafkaErrors, LosesNothingWhereTheFirstRequestFails) {
    const auto lose = [this](const char* topic, const std::vector<std::string>& keys) {
        narrow(topic);
        push(kProduce, {RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS});
        expect_all(publish(*open_kafka(url()), large(topic, keys), seconds(60)));
        EXPECT_EQ(stored(topic), (std::vector<int>{0, 1, 2, 3})) << topic;
    };
    lose("keyless", {"", "", "", ""});
    lose("keyless-first", {"", "k", "", "l"});
    lose("keyed-first", {"k", "", "", ""});
}

// The first is to be tried again, the second one was refused for what is in it and goes alone.
TEST_F(KafkaErrors, ASuspectDoesNotOvertakeWhatIsBeforeIt) {
    narrow("narrow");
    Messages first;
    first.add("narrow", "k", "7");
    expect_all(publish(*broker_, first));
    // Late enough for the second request to be on its way.
    for (int broker = 1; broker <= 3; ++broker) {
        rd_kafka_mock_broker_push_request_error_rtts(
            cluster_,
            broker,
            kProduce,
            2,
            RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
            3000,
            RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE,
            0
        );
    }
    expect_all(publish(*broker_, large("narrow", {"k", "k"}), seconds(60)));
    EXPECT_EQ(stored("narrow"), (std::vector<int>{7, 0, 1}));
}

TEST_F(KafkaErrors, WaitsForABrokerThatIsSlow) {
    for (int broker = 1; broker <= 3; ++broker) rd_kafka_mock_broker_set_rtt(cluster_, broker, 700);
    EXPECT_TRUE(broker_->ping(in(seconds(60))));
    expect_all(publish(*broker_, many(), seconds(60)));
}

// failures.md F58: an error after which the library does nothing any more.
TEST_F(KafkaErrors, BuildsANewClientAfterAFatalError) {
    for (const rd_kafka_resp_err_t error :
         {RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER,
          RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH,
          RD_KAFKA_RESP_ERR_UNKNOWN_PRODUCER_ID,
          RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED,
          RD_KAFKA_RESP_ERR_UNKNOWN}) {
        expect_all(publish(*broker_, many(), seconds(60)));
        push(kProduce, {error});
        const std::vector<Answer> answers = publish(*broker_, many(), seconds(60));
        EXPECT_EQ(count(answers, Verdict::refused), 0U) << error;
        EXPECT_EQ(count(answers, Verdict::unacceptable), 0U) << error;
        rd_kafka_mock_clear_request_errors(cluster_, kProduce);
        expect_all(publish(*broker_, many(), seconds(60)));
    }
}

TEST_F(KafkaErrors, IsAwayWhereNoProducerMayBe) {
    push(
        kInitProducerId,
        {RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED,
         RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED}
    );
    expect_outage(publish(*broker_, many(), seconds(60)), "uthoriz");
    rd_kafka_mock_clear_request_errors(cluster_, kInitProducerId);
    expect_all(publish(*broker_, many(), seconds(60)));
}

TEST_F(KafkaErrors, RefusesATopicThatIsForbiddenInMidRun) {
    expect_all(publish(*broker_, many()));
    push(kProduce, {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED});
    const std::vector<Answer> answers = publish(*broker_, many(), seconds(60));
    EXPECT_GT(count(answers, Verdict::refused), 0U);
    EXPECT_EQ(count(answers, Verdict::unacceptable), 0U);
    expect_all(publish(*broker_, many(), seconds(60)));
}

TEST_F(KafkaErrors, BlamesNobodyForABatchThatWasTooLarge) {
    expect_all(publish(*broker_, many()));
    push(kProduce, {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE});
    expect_all(publish(*broker_, many(), seconds(60)));
}

// Every tenth message goes to a topic whose only partition takes nothing.
class KafkaPartitions : public KafkaErrors {
protected:
    KafkaPartitions() { narrow("lone"); }

    static Messages mixed() {
        Messages messages;
        for (int i = 0; i < 1000; ++i) {
            messages.add(i % 10 == 0 ? "lone" : "t", i % 3 == 0 ? "" : std::to_string(i), "x");
        }
        return messages;
    }

    static Messages lone() {
        Messages messages;
        messages.add("lone", "k", "x");
        return messages;
    }

    void lead(std::int32_t broker) const {
        rd_kafka_mock_partition_set_leader(cluster_, "lone", 0, broker);
    }

    static void expect_refused(const std::vector<Answer>& answers, const std::string& part) {
        for (const Answer& answer : answers) {
            if (answer.verdict == Verdict::acknowledged) continue;
            EXPECT_EQ(answer.verdict, Verdict::refused) << answer.reason;
            EXPECT_NE(answer.reason.find(part), std::string::npos) << answer.reason;
        }
    }

    static void expect_only_lone_refused(
        const std::vector<Answer>& answers,
        const std::string& part
    ) {
        expect_refused(answers, part);
        EXPECT_EQ(count(answers, Verdict::acknowledged), 900U);
    }
};

TEST_F(KafkaPartitions, APartitionWithoutALeaderStopsNobodyElse) {
    lead(-1);
    expect_only_lone_refused(
        publish(*broker_, mixed(), seconds(60)), "0 of topic lone has no leader"
    );
    // Known to be alone with that.
    EXPECT_EQ(publish(*broker_, lone(), seconds(60))[0].verdict, Verdict::refused);
    lead(1);
    EXPECT_TRUE(wait_until([&] {
        return publish(*broker_, lone(), seconds(60))[0].verdict == Verdict::acknowledged;
    }));
}

TEST_F(KafkaPartitions, APartitionThatLosesItsLeaderStopsNobodyElse) {
    expect_all(publish(*broker_, mixed(), seconds(60)));
    lead(-1);
    expect_only_lone_refused(
        publish(*broker_, mixed(), seconds(60)), "0 of topic lone has no leader"
    );
}

TEST_F(KafkaPartitions, AClusterWithoutLeadersIsAway) {
    lead(-1);
    expect_outage(publish(*broker_, lone(), seconds(60)), "0 of topic lone has no leader");
}

TEST_F(KafkaPartitions, APartitionWithoutEnoughReplicasIsNamed) {
    const auto fail = [this](std::size_t times) {
        push(kProduce, std::vector(times, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS));
    };
    fail(21);
    expect_outage(publish(*broker_, lone(), seconds(60)), "0 of topic lone: ");
    expect_all(publish(*broker_, many(), seconds(60)));
    // Others go on, and it is left alone for a while.
    expect_refused(publish(*broker_, lone(), seconds(60)), "0 of topic lone: ");
}

TEST_F(KafkaPartitions, FactsNameWhatHasNoLeader) {
    const auto server = [this] { return broker_->describe(in(seconds(60))).value().server; };
    EXPECT_EQ(server().find("leader"), std::string::npos);
    lead(-1);
    EXPECT_NE(server().find("; partition 0 of topic lone without a leader"), std::string::npos);
}

TEST_F(KafkaPartitions, TheDeadlineNamesWhoIsSilent) {
    expect_all(publish(*broker_, lone(), seconds(60)));
    for (int broker = 1; broker <= 3; ++broker) {
        rd_kafka_mock_broker_set_rtt(cluster_, broker, 60'000);
    }
    expect_outage(
        publish(*broker_, lone(), seconds(5)),
        "no answer of Kafka before the deadline for partition 0 of topic lone"
    );
}

}  // namespace
}  // namespace outrider::live
