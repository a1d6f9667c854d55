#pragma once

#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

namespace outrider::live {

// What kcat, a client that is not ours, found in a topic.
struct KafkaRecord {
    int partition = 0;
    std::string key;
    std::string payload;
    std::vector<std::pair<std::string, std::string>> headers;

    [[nodiscard]] std::string header(const std::string& name) const {
        for (const auto& [key_, value] : headers) {
            if (key_ == name) return value;
        }
        return "(none)";
    }
};

inline std::vector<std::pair<std::string, std::string>> split_headers(const std::string& text) {
    std::vector<std::pair<std::string, std::string>> headers;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        const std::string one = text.substr(at, end - at);
        const std::size_t equals = one.find('=');
        headers.emplace_back(one.substr(0, equals), one.substr(equals + 1));
        at = end + 1;
    }
    return headers;
}

// Reads kcat's output: "partition keysize payloadsize " and then key, payload and headers, each
// record ended by the character 30. Sizes of -1 say that there is none.
inline std::vector<KafkaRecord> parse_records(const std::string& text) {
    std::vector<KafkaRecord> records;
    std::size_t at = 0;
    const auto number = [&] {
        const std::size_t end = text.find(' ', at);
        const int value = std::stoi(text.substr(at, end - at));
        at = end + 1;
        return value;
    };
    const auto bytes = [&](int size) {
        std::string value = size < 0 ? "" : text.substr(at, static_cast<std::size_t>(size));
        at += value.size();
        return value;
    };
    while (at < text.size()) {
        KafkaRecord record;
        record.partition = number();
        const int key_size = number();
        const int payload_size = number();
        record.key = bytes(key_size);
        record.payload = bytes(payload_size);
        const std::size_t end = text.find('\x1e', at);
        record.headers = split_headers(text.substr(at, end - at));
        at = end + 1;
        records.push_back(std::move(record));
    }
    return records;
}

inline std::string output_of(const std::string& command) {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), &::pclose);
    if (!pipe) throw std::runtime_error("cannot run " + command);
    std::string text;
    std::array<char, 65536> part{};
    while (const std::size_t got = std::fread(part.data(), 1, part.size(), pipe.get())) {
        text.append(part.data(), got);
    }
    return text;
}

// Everything in a topic, partition by partition in its order.
inline std::vector<KafkaRecord> read_topic(const std::string& address, const std::string& topic) {
    return parse_records(output_of(
        "timeout 120 kcat -C -q -e -o beginning -b " + address + " -t " + topic +
        " -X check.crcs=true -X fetch.wait.max.ms=20 -f '%p %K %S %k%s%h\\x1e'"
    ));
}

// Administers a cluster with the library as everybody uses it.
class KafkaAdmin {
public:
    explicit KafkaAdmin(const std::string& address) {
        std::array<char, 512> text{};
        rd_kafka_conf_t* conf = rd_kafka_conf_new();
        rd_kafka_conf_set(conf, "bootstrap.servers", address.c_str(), text.data(), text.size());
        rd_kafka_conf_set(conf, "reconnect.backoff.max.ms", "200", text.data(), text.size());
        rd_kafka_conf_set_log_cb(conf, [](const rd_kafka_t*, int, const char*, const char*) {});
        handle_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text.data(), text.size());
        queue_ = rd_kafka_queue_new(handle_);
    }
    ~KafkaAdmin() {
        rd_kafka_queue_destroy(queue_);
        rd_kafka_destroy(handle_);
    }
    KafkaAdmin(const KafkaAdmin&) = delete;
    KafkaAdmin& operator=(const KafkaAdmin&) = delete;

    // Patient, since a server on a busy machine takes its time; it is reconnected to meanwhile.
    [[nodiscard]] bool answers(int millis = 5000) const {
        const rd_kafka_metadata_t* metadata = nullptr;
        if (rd_kafka_metadata(handle_, 0, nullptr, &metadata, millis) != 0) return false;
        const bool has_broker = metadata->broker_cnt > 0;
        rd_kafka_metadata_destroy(metadata);
        return has_broker;
    }

    // `settings`: name, value, name, value ...
    void create_topic(
        const std::string& name,
        int partitions,
        const std::vector<std::string>& settings = {}
    ) const {
        std::array<char, 512> text{};
        rd_kafka_NewTopic_t* topic =
            rd_kafka_NewTopic_new(name.c_str(), partitions, 1, text.data(), text.size());
        for (std::size_t i = 0; i + 1 < settings.size(); i += 2) {
            rd_kafka_NewTopic_set_config(topic, settings[i].c_str(), settings[i + 1].c_str());
        }
        rd_kafka_CreateTopics(handle_, &topic, 1, nullptr, queue_);
        rd_kafka_NewTopic_destroy(topic);
        expect_done(rd_kafka_event_CreateTopics_result, rd_kafka_CreateTopics_result_topics);
        // The controller has made it; whoever takes the messages learns of it a moment later.
        const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
        while (led_partitions(name) != partitions) {
            ASSERT_LT(std::chrono::steady_clock::now(), end) << name;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }

    // How many partitions of a topic the server knows to have a leader.
    [[nodiscard]] int led_partitions(const std::string& name) const {
        rd_kafka_topic_t* topic = rd_kafka_topic_new(handle_, name.c_str(), nullptr);
        const rd_kafka_metadata_t* found = nullptr;
        int count = 0;
        if (rd_kafka_metadata(handle_, 0, topic, &found, 10'000) == RD_KAFKA_RESP_ERR_NO_ERROR) {
            const std::span topics(found->topics, static_cast<std::size_t>(found->topic_cnt));
            for (const rd_kafka_metadata_topic_t& one : topics) {
                const std::span all(one.partitions, static_cast<std::size_t>(one.partition_cnt));
                for (const rd_kafka_metadata_partition_t& each : all) count += each.leader >= 0;
            }
            rd_kafka_metadata_destroy(found);
        }
        rd_kafka_topic_destroy(topic);
        return count;
    }

    void delete_topic(const std::string& name) const {
        rd_kafka_DeleteTopic_t* topic = rd_kafka_DeleteTopic_new(name.c_str());
        rd_kafka_DeleteTopics(handle_, &topic, 1, nullptr, queue_);
        rd_kafka_DeleteTopic_destroy(topic);
        expect_done(rd_kafka_event_DeleteTopics_result, rd_kafka_DeleteTopics_result_topics);
    }

    void deny_writing(const std::string& user, const std::string& topic) const {
        std::array<char, 512> text{};
        rd_kafka_AclBinding_t* rule = rd_kafka_AclBinding_new(
            RD_KAFKA_RESOURCE_TOPIC,
            topic.c_str(),
            RD_KAFKA_RESOURCE_PATTERN_LITERAL,
            ("User:" + user).c_str(),
            "*",
            RD_KAFKA_ACL_OPERATION_WRITE,
            RD_KAFKA_ACL_PERMISSION_TYPE_DENY,
            text.data(),
            text.size()
        );
        rd_kafka_CreateAcls(handle_, &rule, 1, nullptr, queue_);
        rd_kafka_AclBinding_destroy(rule);
        rd_kafka_event_t* event = rd_kafka_queue_poll(queue_, 60'000);
        ASSERT_NE(event, nullptr);
        EXPECT_EQ(rd_kafka_event_error(event), 0) << rd_kafka_event_error_string(event);
        rd_kafka_event_destroy(event);
    }

private:
    template <class Read, class Topics>
    void expect_done(Read read, Topics topics) const {
        rd_kafka_event_t* event = rd_kafka_queue_poll(queue_, 60'000);
        ASSERT_NE(event, nullptr);
        ASSERT_EQ(rd_kafka_event_error(event), 0) << rd_kafka_event_error_string(event);
        std::size_t count = 0;
        const rd_kafka_topic_result_t** results = topics(read(event), &count);
        for (std::size_t i = 0; i < count; ++i) {
            EXPECT_EQ(rd_kafka_topic_result_error(results[i]), 0)
                << rd_kafka_topic_result_error_string(results[i]);
        }
        rd_kafka_event_destroy(event);
    }

    rd_kafka_t* handle_ = nullptr;
    rd_kafka_queue_t* queue_ = nullptr;
};

}  // namespace outrider::live
