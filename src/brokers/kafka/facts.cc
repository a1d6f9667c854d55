#include "brokers/kafka/facts.h"

#include <algorithm>
#include <map>

#include "brokers/wire/socket.h"
#include "core/clock.h"

namespace outrider::kafka {
namespace {

using Event = std::unique_ptr<rd_kafka_event_t, Destroy<rd_kafka_event_t, rd_kafka_event_destroy>>;
using Queue = std::unique_ptr<rd_kafka_queue_t, Destroy<rd_kafka_queue_t, rd_kafka_queue_destroy>>;
using Resource = std::unique_ptr<
    rd_kafka_ConfigResource_t,
    Destroy<rd_kafka_ConfigResource_t, rd_kafka_ConfigResource_destroy>>;
using Settings = std::map<std::string, std::string>;

// A user who may not ask does not keep anybody waiting for the whole deadline.
constexpr Duration kSettingsPatience = std::chrono::seconds(5);

Settings settings_in(rd_kafka_event_t* event) {
    Settings settings;
    std::size_t resources = 0;
    const auto* result = rd_kafka_event_DescribeConfigs_result(event);
    if (result == nullptr) return settings;
    const auto** list = rd_kafka_DescribeConfigs_result_resources(result, &resources);
    for (std::size_t r = 0; r < resources; ++r) {
        std::size_t count = 0;
        const auto** entries = rd_kafka_ConfigResource_configs(list[r], &count);
        for (std::size_t i = 0; i < count; ++i) {
            const char* value = rd_kafka_ConfigEntry_value(entries[i]);
            settings[rd_kafka_ConfigEntry_name(entries[i])] = value == nullptr ? "" : value;
        }
    }
    return settings;
}

// The settings of one broker, which are the defaults of topics.
Settings settings_of(const Client& client, std::int32_t broker, Deadline deadline) {
    const Queue queue(rd_kafka_queue_new(client.get()));
    const Resource resource(
        rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_BROKER, std::to_string(broker).c_str())
    );
    rd_kafka_ConfigResource_t* asked = resource.get();
    rd_kafka_DescribeConfigs(client.get(), &asked, 1, nullptr, queue.get());
    const Deadline patience = std::min(deadline, SystemClock().now() + kSettingsPatience);
    const Event event(rd_kafka_queue_poll(queue.get(), wire::millis_left(patience)));
    return event ? settings_in(event.get()) : Settings();
}

std::string name_of(const Client& client, Deadline deadline) {
    char* id = rd_kafka_clusterid(client.get(), wire::millis_left(deadline));
    if (id == nullptr) return "without a name";
    std::string name = id;
    rd_kafka_mem_free(client.get(), id);
    return name;
}

// How many partitions have no leader, and which is the first; empty: all have one.
std::string leaderless_in(const rd_kafka_metadata_t& metadata) {
    std::size_t count = 0;
    std::string first;
    for (int t = 0; t < metadata.topic_cnt; ++t) {
        const rd_kafka_metadata_topic_t& topic = metadata.topics[t];
        for (int p = 0; p < topic.partition_cnt; ++p) {
            if (topic.partitions[p].leader >= 0 || ++count > 1) continue;
            first = std::to_string(topic.partitions[p].id) + " of topic " + topic.topic;
        }
    }
    if (count == 0) return {};
    const std::string others = count == 1 ? "" : " and " + std::to_string(count - 1) + " more";
    return "; partition " + first + others + " without a leader";
}

}  // namespace

std::string durability_of(const std::string& replicas, const std::string& in_sync_min) {
    const std::string later = "; in memory, on disk later";
    if (replicas.empty() || in_sync_min.empty()) {
        return "on all replicas that are in sync" + later +
               "; how many must be is not told to this user";
    }
    if (replicas == "1") return "on one machine, unless the topic has more replicas" + later;
    return "on all replicas that are in sync, at least " + in_sync_min + " of " + replicas +
           " unless the topic says otherwise" + later;
}

Result<BrokerFacts> describe_cluster(const Client& client, Deadline deadline) {
    const rd_kafka_metadata_t* metadata = nullptr;
    const rd_kafka_resp_err_t error =
        rd_kafka_metadata(client.get(), 1, nullptr, &metadata, wire::millis_left(deadline));
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return Error{Remedy::wait, rd_kafka_err2str(error)};
    const int brokers = metadata->broker_cnt;
    const std::int32_t broker = metadata->orig_broker_id;
    const std::string leaderless = leaderless_in(*metadata);
    rd_kafka_metadata_destroy(metadata);
    BrokerFacts facts;
    facts.server = "Kafka, cluster " + name_of(client, deadline) + ", " + std::to_string(brokers) +
                   (brokers == 1 ? " broker" : " brokers") + " (by librdkafka " +
                   rd_kafka_version_str() + ")" + leaderless;
    const Settings settings = settings_of(client, broker, deadline);
    const auto find = [&](const char* name) {
        const auto found = settings.find(name);
        return found == settings.end() ? std::string() : found->second;
    };
    facts.durability =
        durability_of(find("default.replication.factor"), find("min.insync.replicas"));
    return facts;
}

}  // namespace outrider::kafka
