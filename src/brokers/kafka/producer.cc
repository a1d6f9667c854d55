#include "brokers/kafka/producer.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "brokers/kafka/classify.h"

namespace outrider::kafka {
namespace {

using std::chrono::milliseconds;
using Conf = std::unique_ptr<rd_kafka_conf_t, Destroy<rd_kafka_conf_t, rd_kafka_conf_destroy>>;
using Setting = std::pair<const char*, std::string>;

std::string protocol_of(const KafkaOptions& options) {
    return std::string(options.user.empty() ? "" : "sasl_") + (options.tls ? "ssl" : "plaintext");
}

void add_security(std::vector<Setting>& settings, const KafkaOptions& options) {
    settings.emplace_back("security.protocol", protocol_of(options));
    if (!options.user.empty()) {
        settings.emplace_back("sasl.mechanism", options.sasl);
        settings.emplace_back("sasl.username", options.user);
        settings.emplace_back("sasl.password", options.password);
    }
    if (!options.tls_ca.empty()) settings.emplace_back("ssl.ca.location", options.tls_ca);
    if (!options.tls_cert.empty()) {
        settings.emplace_back("ssl.certificate.location", options.tls_cert);
        settings.emplace_back("ssl.key.location", options.tls_key);
    }
}

// A node that is frozen, or cut off, takes connections no more than requests.
void add_silence(std::vector<Setting>& settings, Duration burst) {
    const Duration silence = silence_max(burst);
    const std::string millis = std::to_string(std::chrono::ceil<milliseconds>(silence).count());
    settings.emplace_back("socket.timeout.ms", millis);
    settings.emplace_back("socket.connection.setup.timeout.ms", millis);
}

void add_mode(std::vector<Setting>& settings, Mode mode, std::size_t batch_bytes) {
    settings.emplace_back("batch.size", std::to_string(batch_bytes));
    if (mode == Mode::together) {
        settings.emplace_back("enable.idempotence", "true");
        settings.emplace_back("enable.gapless.guarantee", "true");
        // Five seconds for a partition that has not enough replicas, then its messages are refused
        // (newer libraries: up to 20). What has another leader is not counted.
        settings.emplace_back("message.send.max.retries", "20");
        settings.emplace_back("retry.backoff.ms", "250");
    } else {
        settings.emplace_back("batch.num.messages", "1");
        settings.emplace_back("message.send.max.retries", "0");
        // A broker takes one request of a connection after the other: of thousands at once the last
        // would wait for longer than silence is borne.
        settings.emplace_back("max.in.flight.requests.per.connection", "64");
    }
}

std::vector<Setting> settings_of(const KafkaOptions& options, Mode mode, std::size_t batch_bytes) {
    const auto interval = std::chrono::ceil<milliseconds>(options.statistics).count();
    std::vector<Setting> settings = {
        {"bootstrap.servers", addresses_of(options)},
        {"client.id", "outrider"},
        {"acks", "all"},
        {"compression.codec", options.compression},
        // The burst is complete when it is handed over, so nothing is gained by waiting.
        {"linger.ms", "0"},
        {"socket.nagle.disable", "true"},
        {"socket.keepalive.enable", "true"},
        // The deadline of the burst is the only one: a message never expires inside the library,
        // which would leave a gap and go on behind it.
        {"message.timeout.ms", "0"},
        // The broker knows its limit, not we: below socket.request.max.bytes, beyond which it would
        // hang up.
        {"message.max.bytes", "100000000"},
        {"queue.buffering.max.messages", "50000"},
        {"queue.buffering.max.kbytes", "131072"},
        {"reconnect.backoff.ms", "50"},
        {"reconnect.backoff.max.ms", "1000"},
        {"statistics.interval.ms", std::to_string(interval)}};
    add_security(settings, options);
    add_mode(settings, mode, batch_bytes);
    return settings;
}

// Called by the library's thread that has just heard of a failure, before it sends anything more.
// The library itself stops only at errors that are not tried again; after one that was tried too
// often it would give what follows a new number, and the broker would take it behind the gap.
rd_kafka_resp_err_t stop_at_gap(rd_kafka_t* client, rd_kafka_message_t* message, void* /*none*/) {
    if (leaves_gap(message->err)) {
        const char* reason = rd_kafka_err2str(message->err);
        rd_kafka_test_fatal_error(client, RD_KAFKA_RESP_ERR__GAPLESS_GUARANTEE, reason);
    }
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_resp_err_t watch_gaps(
    rd_kafka_t* client,
    const rd_kafka_conf_t* /*conf*/,
    void* /*none*/,
    char* /*complaint*/,
    std::size_t /*size*/
) {
    return rd_kafka_interceptor_add_on_acknowledgement(client, "outrider", stop_at_gap, nullptr);
}

// The library would write to standard error; what matters comes as an event too.
void ignore_log(const rd_kafka_t* /*client*/, int /*level*/, const char* /*part*/, const char*) {
}

Result<Conf> conf_of(const std::vector<Setting>& settings) {
    std::array<char, 512> complaint{};
    Conf conf(rd_kafka_conf_new());
    for (const auto& [name, value] : settings) {
        const auto set =
            rd_kafka_conf_set(conf.get(), name, value.c_str(), complaint.data(), complaint.size());
        // The library quotes values in its complaints.
        if (set != RD_KAFKA_CONF_OK) {
            return Error{Remedy::correct, std::string("librdkafka does not take ") + name};
        }
    }
    rd_kafka_conf_set_log_cb(conf.get(), ignore_log);
    rd_kafka_conf_set_events(
        conf.get(), RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_STATS
    );
    return conf;
}

Result<Producer> create(
    const KafkaOptions& options,
    const std::vector<Setting>& settings,
    bool is_watched
) {
    Result<Conf> conf = conf_of(settings);
    if (!conf) return conf.error();
    if (is_watched) {
        rd_kafka_conf_interceptor_add_on_new(conf->get(), "outrider", watch_gaps, nullptr);
    }
    std::array<char, 512> complaint{};
    Producer producer(
        rd_kafka_new(RD_KAFKA_PRODUCER, conf->get(), complaint.data(), complaint.size())
    );
    // It belongs to the client now. Where there is none the library (2.0) has freed the
    // interceptors of these settings and would do so again: see try_out.
    if (producer || is_watched) static_cast<void>(conf->release());
    if (producer) return producer;
    return Error{Remedy::correct, wire::without_secret(complaint.data(), options.password)};
}

// Whether certificates and logins are such that the library makes a client; this one knows no
// broker, and nobody watches it.
Result<Producer> try_out(const KafkaOptions& options, std::vector<Setting> settings) {
    if (!options.tls && options.user.empty()) return Producer();
    settings.emplace_back("bootstrap.servers", "");
    return create(options, settings, false);
}

}  // namespace

Duration silence_max(Duration burst) {
    constexpr Duration kLeast = std::chrono::seconds(3);
    constexpr Duration kMost = std::chrono::seconds(20);
    return std::clamp(burst / 3, kLeast, kMost);
}

std::string addresses_of(const KafkaOptions& options) {
    std::string list;
    for (const wire::Endpoint& endpoint : options.endpoints) {
        list += (list.empty() ? "" : ",") + wire::to_string(endpoint);
    }
    return list;
}

Result<Producer> make_producer(
    const KafkaOptions& options,
    Mode mode,
    std::size_t batch_bytes,
    Duration burst
) {
    std::vector<Setting> settings = settings_of(options, mode, batch_bytes);
    add_silence(settings, burst);
    const bool is_watched = mode == Mode::together;
    if (is_watched) {
        if (Result<Producer> tried = try_out(options, settings); !tried) return tried.error();
    }
    return create(options, settings, is_watched);
}

}  // namespace outrider::kafka
