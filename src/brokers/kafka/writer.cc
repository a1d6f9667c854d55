#include "brokers/kafka/writer.h"

#include <algorithm>

#include <librdkafka/rdkafka.h>

namespace outrider::kafka {
namespace {

constexpr std::size_t kTopicBytesMax = 249;

bool is_allowed(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

}  // namespace

Result<wire::Target> parse_target(std::string_view text) {
    Result<wire::Target> target = wire::Target::parse(text);
    if (!target) return target;
    const std::string literals = target->literals();
    if (!std::all_of(literals.begin(), literals.end(), is_allowed)) {
        return Error{
            Remedy::correct,
            "the target names no topic of Kafka: those have letters, digits, '.', '_' and '-'"};
    }
    return target;
}

std::string flaw_of(std::string_view topic) {
    if (topic.empty()) return "the target is empty for this message";
    const std::string name = "'" + std::string(topic) + "' is no name of a topic of Kafka: ";
    if (topic.size() > kTopicBytesMax) return name + "it has more than 249 characters";
    if (topic == "." || topic == "..") return name + "it is reserved";
    if (std::all_of(topic.begin(), topic.end(), is_allowed)) return {};
    return name + "it may have letters, digits, '.', '_' and '-' (see target)";
}

Writer::Writer(const KafkaOptions& options, wire::Target target)
    : partitioner_(options.partitioner),
      target_(std::move(target)),
      encoder_(options.wire, {.attribute_prefix = "ce_"}) {
}

const std::string& Writer::topic_of(const Envelope& envelope) {
    topic_.clear();
    target_.append(topic_, envelope);
    return topic_;
}

std::int32_t Writer::partition_of(std::string_view key, std::int32_t count) const {
    const bool is_murmur2 = partitioner_ == KafkaOptions::Partitioner::murmur2;
    const auto choose =
        is_murmur2 ? rd_kafka_msg_partitioner_murmur2 : rd_kafka_msg_partitioner_consistent;
    return choose(nullptr, key.data(), key.size(), count, nullptr, nullptr);
}

wire::Encoded Writer::encode(const Envelope& envelope) {
    return encoder_.encode(envelope);
}

}  // namespace outrider::kafka
