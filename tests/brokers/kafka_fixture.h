#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "brokers/kafka/broker.h"
#include "brokers/support/kafka_server.h"
#include "brokers/support/messages.h"

namespace outrider::live {

inline std::unique_ptr<Broker> open_kafka(const std::string& url) {
    const Result<KafkaOptions> options = parse_kafka_url(url);
    EXPECT_TRUE(options) << options.error().text;
    return std::move(make_kafka_broker(*options)->open()).value();
}

// Every test has a topic of its own with four partitions.
class Kafka : public ::testing::Test {
protected:
    Kafka() : topic_("t-" + MessageId::generate().to_string()) {
        KafkaAdmin(kafka_server().address()).create_topic(topic_, 4);
    }

    // A further topic.
    [[nodiscard]] std::string add_topic(
        const std::string& suffix,
        int partitions,
        const std::vector<std::string>& settings = {}
    ) const {
        const std::string name = topic_ + "-" + suffix;
        KafkaAdmin(kafka_server().address()).create_topic(name, partitions, settings);
        return name;
    }

    static std::unique_ptr<Broker> open_with(const std::string& parameters) {
        return open_kafka(kafka_server().url() + "?" + parameters);
    }
    static std::unique_ptr<Broker> open() { return open_kafka(kafka_server().url()); }

    [[nodiscard]] std::vector<KafkaRecord> read() const { return read(topic_); }
    static std::vector<KafkaRecord> read(const std::string& topic) {
        return read_topic(kafka_server().address(), topic);
    }

    [[nodiscard]] Messages one() const {
        Messages messages;
        messages.add(topic_, "k", "x");
        return messages;
    }

    const std::string topic_;
};

// The payloads of each key count up from 0. A suffix may come again, but nothing before its turn.
// Returns how many each key has.
inline std::map<std::string, int> expect_order(const std::vector<KafkaRecord>& records) {
    std::map<std::string, int> counts;
    for (const KafkaRecord& record : records) {
        int& next = counts[record.key];
        const int number = std::stoi(record.payload);
        EXPECT_LE(number, next) << "of key " << record.key;
        if (number == next) ++next;
    }
    return counts;
}

}  // namespace outrider::live
