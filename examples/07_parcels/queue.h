#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include <amqp.h>
#include <amqp_tcp_socket.h>

// As much of a RabbitMQ client as the worker needs. Everything throws std::runtime_error.

struct Arrived {
    std::uint64_t tag = 0;
    std::string id;
    std::string key;
    std::string payload;
    std::int64_t position = 0;
};

class Queue {
public:
    // Declares a durable queue and consumes it, with at most 20 messages in hand.
    Queue(const std::string& url, const std::string& name) : state_(amqp_new_connection()) {
        std::string text = url;
        amqp_connection_info where{};
        if (amqp_parse_url(text.data(), &where) != AMQP_STATUS_OK) fail("bad URL");
        amqp_socket_t* socket = amqp_tcp_socket_new(state_);
        timeval patience{5, 0};
        if (amqp_socket_open_noblock(socket, where.host, where.port, &patience) != AMQP_STATUS_OK) {
            fail("no connection");
        }
        amqp_set_handshake_timeout(state_, &patience);
        amqp_set_rpc_timeout(state_, &patience);
        check(amqp_login(
            state_, where.vhost, 0, 131072, 10, AMQP_SASL_METHOD_PLAIN, where.user, where.password
        ));
        amqp_channel_open(state_, 1);
        check(amqp_get_rpc_reply(state_));
        amqp_queue_declare(state_, 1, bytes(name), 0, 1, 0, 0, amqp_empty_table);
        check(amqp_get_rpc_reply(state_));
        amqp_basic_qos(state_, 1, 0, 20, 0);
        check(amqp_get_rpc_reply(state_));
        amqp_basic_consume(state_, 1, bytes(name), amqp_empty_bytes, 0, 0, 0, amqp_empty_table);
        check(amqp_get_rpc_reply(state_));
    }
    ~Queue() { amqp_destroy_connection(state_); }
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    // The next message; nothing: none came for a while.
    std::optional<Arrived> next() {
        amqp_maybe_release_buffers(state_);
        amqp_envelope_t envelope;
        timeval patience{1, 0};
        const amqp_rpc_reply_t reply = amqp_consume_message(state_, &envelope, &patience, 0);
        const bool quiet = reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION &&
                           reply.library_error == AMQP_STATUS_TIMEOUT;
        if (quiet) return std::nullopt;
        check(reply);
        Arrived arrived = read(envelope);
        amqp_destroy_envelope(&envelope);
        return arrived;
    }

    void acknowledge(std::uint64_t tag) {
        if (amqp_basic_ack(state_, 1, tag, 0) != 0) fail("cannot acknowledge");
    }

private:
    static amqp_bytes_t bytes(const std::string& text) { return amqp_cstring_bytes(text.c_str()); }
    static std::string text(amqp_bytes_t bytes) {
        return {static_cast<const char*>(bytes.bytes), bytes.len};
    }

    static Arrived read(const amqp_envelope_t& envelope) {
        Arrived arrived;
        arrived.tag = envelope.delivery_tag;
        arrived.id = text(envelope.message.properties.message_id);
        arrived.payload = text(envelope.message.body);
        const amqp_table_t& headers = envelope.message.properties.headers;
        for (int i = 0; i < headers.num_entries; ++i) {
            const amqp_table_entry_t& entry = headers.entries[i];
            if (entry.value.kind != AMQP_FIELD_KIND_UTF8) continue;
            const std::string value = text(entry.value.value.bytes);
            if (text(entry.key) == "outrider-key") arrived.key = value;
            if (text(entry.key) == "position") arrived.position = std::stoll(value);
        }
        return arrived;
    }

    [[noreturn]] static void fail(const std::string& what) {
        throw std::runtime_error("RabbitMQ: " + what);
    }
    static void check(const amqp_rpc_reply_t& reply) {
        if (reply.reply_type == AMQP_RESPONSE_NORMAL) return;
        fail(
            reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION
                ? amqp_error_string2(reply.library_error)
                : "the server closed the connection"
        );
    }

    amqp_connection_state_t state_;
};
