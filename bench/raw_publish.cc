#include "raw_publish.h"

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <stdexcept>

#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <hiredis/hiredis.h>
#include <librdkafka/rdkafka.h>
#include <nats/nats.h>

#include "outrider/message.h"

namespace outrider::bench {
namespace {

// How many messages may be on their way: what one turn of the relay has.
constexpr std::size_t kWindow = 10'000;

class Stopwatch {
public:
    [[nodiscard]] double rate(std::size_t count) const {
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start_;
        return static_cast<double>(count) / took.count();
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void expect(bool is_fine, const std::string& what) {
    if (!is_fine) throw std::runtime_error("raw publish: " + what);
}

void set(rd_kafka_conf_t* conf, const char* name, const char* value) {
    std::array<char, 256> text{};
    expect(rd_kafka_conf_set(conf, name, value, text.data(), text.size()) == 0, text.data());
}

void produce(rd_kafka_t* client, const RawMessages& messages, std::size_t i) {
    while (true) {
        const rd_kafka_resp_err_t error = rd_kafka_producev(
            client,
            RD_KAFKA_V_TOPIC(messages.topic.c_str()),
            RD_KAFKA_V_KEY(messages.keys[i].data(), messages.keys[i].size()),
            RD_KAFKA_V_VALUE(const_cast<char*>(messages.payload.data()), messages.payload.size()),
            RD_KAFKA_V_HEADER("outrider-id", messages.ids[i].data(), 36),
            RD_KAFKA_V_HEADER("outrider-topic", messages.topic.data(), 5),
            RD_KAFKA_V_HEADER("outrider-key", messages.keys[i].data(), messages.keys[i].size()),
            RD_KAFKA_V_HEADER("outrider-type", messages.type.data(), messages.type.size()),
            RD_KAFKA_V_HEADER("outrider-occurred-at", messages.occurred_at.data(), 24),
            RD_KAFKA_V_HEADER("content-type", messages.content_type.data(), 16),
            RD_KAFKA_V_END
        );
        if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return;
        expect(error == RD_KAFKA_RESP_ERR__QUEUE_FULL, rd_kafka_err2str(error));
        rd_kafka_poll(client, 10);
    }
}

void add_headers(natsMsg* message, const RawMessages& messages, std::size_t i) {
    natsMsgHeader_Set(message, "outrider-id", messages.ids[i].c_str());
    natsMsgHeader_Set(message, "outrider-topic", messages.topic.c_str());
    natsMsgHeader_Set(message, "outrider-key", messages.keys[i].c_str());
    natsMsgHeader_Set(message, "outrider-type", messages.type.c_str());
    natsMsgHeader_Set(message, "outrider-occurred-at", messages.occurred_at.c_str());
    natsMsgHeader_Set(message, "content-type", messages.content_type.c_str());
    natsMsgHeader_Set(message, "Nats-Msg-Id", messages.ids[i].c_str());
}

amqp_bytes_t bytes(const std::string& text) {
    return {text.size(), const_cast<char*>(text.data())};
}

amqp_table_entry_t entry(const char* name, const std::string& value) {
    amqp_table_entry_t made{};
    made.key = amqp_cstring_bytes(name);
    made.value.kind = AMQP_FIELD_KIND_UTF8;
    made.value.value.bytes = bytes(value);
    return made;
}

// Counts acknowledgements, which come one by one or all up to one.
class Confirms {
public:
    Confirms(amqp_connection_state_t state, std::size_t count) : state_(state), done_(count + 1) {}

    // Reads until at most so many of those sent are without one.
    void await(std::size_t sent, std::size_t open_max) {
        while (sent - count_ > open_max) {
            amqp_frame_t frame{};
            expect(amqp_simple_wait_frame(state_, &frame) == AMQP_STATUS_OK, "RabbitMQ is gone");
            if (frame.frame_type != AMQP_FRAME_METHOD) continue;
            expect(frame.payload.method.id == AMQP_BASIC_ACK_METHOD, "RabbitMQ refuses");
            take(*static_cast<const amqp_basic_ack_t*>(frame.payload.method.decoded));
            amqp_maybe_release_buffers(state_);
        }
    }

private:
    void take(const amqp_basic_ack_t& ack) {
        for (std::size_t tag = ack.multiple != 0 ? low_ : ack.delivery_tag; tag <= ack.delivery_tag;
             ++tag) {
            if (!done_[tag]) ++count_;
            done_[tag] = true;
        }
        while (low_ < done_.size() && done_[low_]) ++low_;
    }

    amqp_connection_state_t state_;
    std::vector<bool> done_;
    std::size_t low_ = 1;
    std::size_t count_ = 0;
};

void publish_one(amqp_connection_state_t state, const RawMessages& messages, std::size_t i) {
    std::array<amqp_table_entry_t, 5> headers = {
        entry("outrider-id", messages.ids[i]),
        entry("outrider-topic", messages.topic),
        entry("outrider-key", messages.keys[i]),
        entry("outrider-type", messages.type),
        entry("outrider-occurred-at", messages.occurred_at)};
    amqp_basic_properties_t properties{};
    properties._flags = AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_HEADERS_FLAG |
                        AMQP_BASIC_MESSAGE_ID_FLAG | AMQP_BASIC_CONTENT_TYPE_FLAG;
    properties.delivery_mode = 2;
    properties.headers = {static_cast<int>(headers.size()), headers.data()};
    properties.message_id = bytes(messages.ids[i]);
    properties.content_type = bytes(messages.content_type);
    const int status = amqp_basic_publish(
        state,
        1,
        amqp_empty_bytes,
        bytes(messages.topic),
        1,
        0,
        &properties,
        bytes(messages.payload)
    );
    expect(status == AMQP_STATUS_OK, "RabbitMQ takes nothing");
}

}  // namespace

RawMessages::RawMessages(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        ids.push_back(MessageId::generate().to_string());
        keys.push_back("k" + std::to_string(i % 1000));
    }
}

double publish_kafka(const RawMessages& messages, const std::string& address) {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", address.c_str());
    set(conf, "enable.idempotence", "true");
    set(conf, "acks", "all");
    set(conf, "linger.ms", "5");
    set(conf, "partitioner", "murmur2_random");
    static std::size_t delivered;
    delivered = 0;
    rd_kafka_conf_set_dr_msg_cb(conf, [](rd_kafka_t*, const rd_kafka_message_t* message, void*) {
        if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) ++delivered;
    });
    std::array<char, 256> text{};
    rd_kafka_t* client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text.data(), text.size());
    expect(client != nullptr, text.data());
    const Stopwatch watch;
    for (std::size_t i = 0; i < messages.ids.size(); ++i) {
        produce(client, messages, i);
        if (i % 1000 == 0) rd_kafka_poll(client, 0);
    }
    rd_kafka_flush(client, 60'000);
    const double rate = watch.rate(messages.ids.size());
    rd_kafka_destroy(client);
    expect(delivered == messages.ids.size(), "Kafka did not acknowledge everything");
    return rate;
}

double publish_nats(const RawMessages& messages, const std::string& url) {
    natsConnection* connection = nullptr;
    expect(natsConnection_ConnectTo(&connection, url.c_str()) == NATS_OK, "no NATS");
    jsOptions options;
    jsOptions_Init(&options);
    options.PublishAsync.MaxPending = kWindow;
    jsCtx* stream = nullptr;
    expect(natsConnection_JetStream(&stream, connection, &options) == NATS_OK, "no JetStream");
    const Stopwatch watch;
    for (std::size_t i = 0; i < messages.ids.size(); ++i) {
        natsMsg* message = nullptr;
        natsMsg_Create(
            &message,
            messages.topic.c_str(),
            nullptr,
            messages.payload.data(),
            static_cast<int>(messages.payload.size())
        );
        add_headers(message, messages, i);
        expect(js_PublishMsgAsync(stream, &message, nullptr) == NATS_OK, "JetStream takes nothing");
    }
    jsPubOptions patience;
    jsPubOptions_Init(&patience);
    patience.MaxWait = 60'000;
    expect(js_PublishAsyncComplete(stream, &patience) == NATS_OK, "no acknowledgements");
    const double rate = watch.rate(messages.ids.size());
    jsCtx_Destroy(stream);
    natsConnection_Destroy(connection);
    return rate;
}

double publish_rabbitmq(const RawMessages& messages, std::uint16_t port) {
    const amqp_connection_state_t state = amqp_new_connection();
    amqp_socket_t* socket = amqp_tcp_socket_new(state);
    expect(amqp_socket_open(socket, "127.0.0.1", port) == AMQP_STATUS_OK, "no RabbitMQ");
    const auto login =
        amqp_login(state, "/", 0, 131'072, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest");
    expect(login.reply_type == AMQP_RESPONSE_NORMAL, "RabbitMQ lets nobody in");
    amqp_channel_open(state, 1);
    amqp_confirm_select(state, 1);
    Confirms confirms(state, messages.ids.size());
    const Stopwatch watch;
    for (std::size_t i = 0; i < messages.ids.size(); ++i) {
        publish_one(state, messages, i);
        if (i % 500 == 499) confirms.await(i + 1, kWindow);
    }
    confirms.await(messages.ids.size(), 0);
    const double rate = watch.rate(messages.ids.size());
    amqp_destroy_connection(state);
    return rate;
}

double publish_redis(const RawMessages& messages, std::uint16_t port) {
    const std::unique_ptr<redisContext, decltype(&redisFree)> client(
        redisConnect("127.0.0.1", port), &redisFree
    );
    expect(client && client->err == 0, "no Redis");
    const Stopwatch watch;
    std::size_t owed = 0;
    const auto settle = [&](std::size_t owed_max) {
        for (; owed > owed_max; --owed) {
            void* reply = nullptr;
            expect(redisGetReply(client.get(), &reply) == REDIS_OK, "Redis is gone");
            expect(static_cast<redisReply*>(reply)->type != REDIS_REPLY_ERROR, "Redis refuses");
            freeReplyObject(reply);
        }
    };
    for (std::size_t i = 0; i < messages.ids.size(); ++i) {
        const std::array<const std::string*, 2> own = {&messages.ids[i], &messages.keys[i]};
        const std::array<const char*, 17> words = {
            "XADD",
            messages.topic.c_str(),
            "*",
            "outrider-id",
            own[0]->c_str(),
            "outrider-topic",
            messages.topic.c_str(),
            "outrider-key",
            own[1]->c_str(),
            "outrider-type",
            messages.type.c_str(),
            "outrider-occurred-at",
            messages.occurred_at.c_str(),
            "content-type",
            messages.content_type.c_str(),
            "payload",
            messages.payload.c_str()};
        redisAppendCommandArgv(
            client.get(),
            static_cast<int>(words.size()),
            const_cast<const char**>(words.data()),
            nullptr
        );
        owed += 1;
        // Half of them may be on their way while the answers to the others are read.
        constexpr std::size_t kAhead = 1000;
        if (owed >= 2 * kAhead) settle(kAhead);
    }
    settle(0);
    return watch.rate(messages.ids.size());
}

}  // namespace outrider::bench
