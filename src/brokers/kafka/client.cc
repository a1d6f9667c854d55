#include "brokers/kafka/client.h"

#include <algorithm>
#include <array>

#include "brokers/kafka/classify.h"
#include "brokers/wire/files.h"
#include "brokers/wire/socket.h"
#include "core/clock.h"

namespace outrider::kafka {
namespace {

using std::chrono::milliseconds;
using Event = std::unique_ptr<rd_kafka_event_t, Destroy<rd_kafka_event_t, rd_kafka_event_destroy>>;

// Kafka's clients look for new partitions every five minutes.
constexpr Duration kTopicAge = std::chrono::minutes(5);

// And how long it takes at least until one that lacks leaders is asked for again.
constexpr Duration kTopicAgeWithoutLeaders = std::chrono::seconds(1);

// How long between two looks for a topic that is being created.
constexpr Duration kLook = milliseconds(50);

// How long the first look for a broker takes at most before the news are read. Each further one
// takes twice as long, since an answer that comes later than its look ends is lost.
constexpr Duration kSlice = milliseconds(200);

// What is known to be wrong with the library itself: until this version its SCRAM has a fault that
// Kafka 4 does not forgive.
std::string known_fault(const KafkaOptions& options, std::string_view trouble) {
    constexpr int kMended = 0x02060100;
    const bool is_login = trouble.find("uthentication") != std::string_view::npos;
    if (!is_login || !options.sasl.starts_with("SCRAM") || rd_kafka_version() >= kMended) return {};
    return std::string(" (SCRAM with Kafka 4 takes librdkafka 2.6.1, this is ") +
           rd_kafka_version_str() + ")";
}

std::vector<std::int32_t> leaders_in(const rd_kafka_metadata_topic_t& topic) {
    std::vector<std::int32_t> leaders(static_cast<std::size_t>(topic.partition_cnt), -1);
    for (int i = 0; i < topic.partition_cnt; ++i) {
        const rd_kafka_metadata_partition_t& partition = topic.partitions[i];
        if (partition.id < 0 || partition.id >= topic.partition_cnt) continue;
        leaders[static_cast<std::size_t>(partition.id)] = partition.leader;
    }
    return leaders;
}

}  // namespace

bool Topic::lacks_leaders() const {
    return std::any_of(leaders.begin(), leaders.end(), [](std::int32_t id) { return id < 0; });
}

Result<std::unique_ptr<Client>> Client::open(
    const KafkaOptions& options,
    Mode mode,
    std::size_t batch_bytes,
    Deadline deadline
) {
    if (Result<void> good = wire::check_files(options); !good) return good.error();
    Result<Producer> made =
        make_producer(options, mode, batch_bytes, deadline - SystemClock().now());
    if (!made) return made.error();
    return std::unique_ptr<Client>(new Client(options, std::move(made).value()));
}

Client::Client(const KafkaOptions& options, Producer handle)
    : options_(options),
      handle_(std::move(handle)),
      queue_(rd_kafka_queue_get_main(handle_.get())) {
}

Client::~Client() {
    rd_kafka_purge(
        handle_.get(),
        RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT | RD_KAFKA_PURGE_F_NON_BLOCKING
    );
}

Result<void> Client::connect(Deadline deadline) {
    for (Duration look = kSlice;; look *= 2) {
        const Deadline slice = std::min(deadline, SystemClock().now() + look);
        const rd_kafka_metadata_t* metadata = nullptr;
        const rd_kafka_resp_err_t error =
            rd_kafka_metadata(handle_.get(), 0, nullptr, &metadata, wire::millis_left(slice));
        if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
            rd_kafka_metadata_destroy(metadata);
            return {};
        }
        while (poll({})) {
        }
        if (is_down_ || is_fatal() || wire::millis_left(deadline) == 0) {
            return Error{Remedy::wait, why(), error};
        }
    }
}

Result<Topic*> Client::topic(
    const std::string& name,
    Deadline deadline,
    Deadline patience,
    std::string& refusal
) {
    const auto [found, is_new] = topics_.try_emplace(name);
    Topic& topic = found->second;
    const MonoTime now = SystemClock().now();
    const Duration age = topic.lacks_leaders() ? kTopicAgeWithoutLeaders : kTopicAge;
    if (topic.partition_count > 0 && now - topic.asked_at < age) return &topic;
    if (!topic.handle) topic.handle.reset(rd_kafka_topic_new(handle_.get(), name.c_str(), nullptr));
    if (!topic.handle) {
        refusal = "librdkafka does not take the topic " + name;
        return nullptr;
    }
    // So that not every client begins at the same partition.
    if (is_new) topic.spread.step = static_cast<std::uint64_t>(now.time_since_epoch().count());
    const rd_kafka_resp_err_t error =
        is_new ? ask_patiently(topic, deadline, patience) : ask(topic, deadline);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
        topic.asked_at = now;
        return &topic;
    }
    if (meaning_of(error, RD_KAFKA_MSG_STATUS_NOT_PERSISTED) != Meaning::topic) {
        return Error{Remedy::wait, "topic " + name + ": " + rd_kafka_err2str(error), error};
    }
    forget(name);
    refusal = "topic " + name + ": " + rd_kafka_err2str(error);
    return nullptr;
}

rd_kafka_resp_err_t Client::ask(Topic& topic, Deadline deadline) {
    const rd_kafka_metadata_t* metadata = nullptr;
    const rd_kafka_resp_err_t asked = rd_kafka_metadata(
        handle_.get(), 0, topic.handle.get(), &metadata, wire::millis_left(deadline)
    );
    if (asked != RD_KAFKA_RESP_ERR_NO_ERROR) return asked;
    const rd_kafka_metadata_topic_t& found = metadata->topics[0];
    const rd_kafka_resp_err_t error = found.err;
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
        const auto count = static_cast<std::size_t>(found.partition_cnt);
        topic.partition_count = found.partition_cnt;
        topic.acknowledged_at.resize(count, MonoTime::min());
        topic.leaders = leaders_in(found);
    }
    rd_kafka_metadata_destroy(metadata);
    return error;
}

rd_kafka_resp_err_t Client::ask_patiently(Topic& topic, Deadline deadline, Deadline patience) {
    while (true) {
        const rd_kafka_resp_err_t error = ask(topic, deadline);
        const bool may_come = error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
                              error == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE ||
                              (error == RD_KAFKA_RESP_ERR_NO_ERROR && topic.lacks_leaders());
        if (!may_come || wire::millis_left(patience) == 0) return error;
        poll(std::min(patience, SystemClock().now() + kLook));
    }
}

bool Client::has_leader(const std::string& name, std::int32_t partition, Deadline deadline) {
    const auto found = topics_.find(name);
    if (found == topics_.end()) return true;
    const rd_kafka_resp_err_t error = ask(found->second, deadline);
    return error != RD_KAFKA_RESP_ERR_NO_ERROR || found->second.has_leader(partition);
}

void Client::forget(const std::string& name) {
    const auto found = topics_.find(name);
    if (found == topics_.end()) return;
    found->second.partition_count = 0;
    found->second.acknowledged_at.clear();  // another one of this name knows nobody
}

rd_kafka_resp_err_t Client::produce(
    const Address& address,
    const wire::Encoded& message,
    bool copies
) {
    const bool has_type = !message.content_type.empty();
    rd_kafka_headers_t* headers = rd_kafka_headers_new(message.headers.size() + (has_type ? 1 : 0));
    const auto add = [&](std::string_view name, std::string_view value) {
        rd_kafka_header_add(
            headers,
            name.data(),
            static_cast<ssize_t>(name.size()),
            value.data(),
            static_cast<ssize_t>(value.size())
        );
    };
    for (const HeaderView& header : message.headers) add(header.name, header.value);
    if (has_type) add("content-type", message.content_type);
    // An empty payload is a value without bytes; none at all would be a tombstone.
    const char* payload = message.payload.empty() ? "" : message.payload.data();
    const rd_kafka_resp_err_t error = rd_kafka_producev(
        handle_.get(),
        RD_KAFKA_V_RKT(address.topic.handle.get()),
        RD_KAFKA_V_PARTITION(address.partition),
        RD_KAFKA_V_MSGFLAGS(copies ? RD_KAFKA_MSG_F_COPY : 0),
        RD_KAFKA_V_KEY(address.key.empty() ? nullptr : address.key.data(), address.key.size()),
        RD_KAFKA_V_VALUE(const_cast<char*>(payload), message.payload.size()),
        RD_KAFKA_V_HEADERS(headers),
        // NOLINTNEXTLINE(performance-no-int-to-ptr): a number that comes back, never followed
        RD_KAFKA_V_OPAQUE(reinterpret_cast<void*>(address.place)),
        RD_KAFKA_V_END
    );
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) rd_kafka_headers_destroy(headers);
    return error;
}

bool Client::poll(Deadline deadline) {
    const Event event(rd_kafka_queue_poll(queue_.get(), wire::millis_left(deadline)));
    if (!event) return false;
    if (rd_kafka_event_type(event.get()) != RD_KAFKA_EVENT_DR) {
        note(event.get());
        return true;
    }
    while (const rd_kafka_message_t* message = rd_kafka_event_message_next(event.get())) {
        if (report_) report_(*message);
    }
    return true;
}

void Client::note(rd_kafka_event_t* event) {
    if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_STATS) {
        statistics_ = rd_kafka_event_stats(event);
        return;
    }
    if (rd_kafka_event_type(event) != RD_KAFKA_EVENT_ERROR) return;
    const rd_kafka_resp_err_t error = rd_kafka_event_error(event);
    if (error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
        is_down_ = true;
        return;
    }
    trouble_ = wire::without_secret(rd_kafka_event_error_string(event), options_.password);
}

void Client::purge() {
    rd_kafka_purge(handle_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_NON_BLOCKING);
}

void Client::give_up(const std::string& reason) {
    rd_kafka_test_fatal_error(handle_.get(), RD_KAFKA_RESP_ERR__GAPLESS_GUARANTEE, reason.c_str());
}

bool Client::is_fatal() const {
    return rd_kafka_fatal_error(handle_.get(), nullptr, 0) != RD_KAFKA_RESP_ERR_NO_ERROR;
}

std::string Client::why() const {
    std::array<char, 512> text{};
    if (rd_kafka_fatal_error(handle_.get(), text.data(), text.size()) != 0) return text.data();
    if (!trouble_.empty()) return trouble_ + known_fault(options_, trouble_);
    return "no broker of " + addresses_of(options_) + " answers";
}

}  // namespace outrider::kafka
