#pragma once

#include <map>
#include <string>
#include <vector>

#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_tcp_socket.h>
#include <gtest/gtest.h>

namespace outrider::live {

inline std::string text(amqp_bytes_t bytes) {
    return {static_cast<const char*>(bytes.bytes), bytes.len};
}

// One message as a consumer sees it.
struct Fetched {
    std::string exchange;
    std::string routing_key;
    std::string payload;
    std::string message_id;
    std::string type;
    std::string content_type;
    int delivery_mode = 0;
    std::uint64_t timestamp = 0;
    std::vector<std::pair<std::string, std::string>> headers;

    [[nodiscard]] std::string header(const std::string& name) const {
        for (const auto& [key, value] : headers) {
            if (key == name) return value;
        }
        return "(none)";
    }
};

// A client of RabbitMQ that is not ours: rabbitmq-c as everybody uses it.
class RabbitmqClient {
public:
    explicit RabbitmqClient(std::uint16_t port) : state_(amqp_new_connection()) {
        amqp_socket_t* socket = amqp_tcp_socket_new(state_);
        timeval patience{10, 0};
        if (amqp_socket_open_noblock(socket, "127.0.0.1", port, &patience) != AMQP_STATUS_OK)
            return;
        amqp_set_handshake_timeout(state_, &patience);
        amqp_set_rpc_timeout(state_, &patience);
        const amqp_rpc_reply_t reply =
            amqp_login(state_, "/", 0, 131072, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest");
        if (reply.reply_type != AMQP_RESPONSE_NORMAL) return;
        amqp_channel_open(state_, 1);
        answers_ = amqp_get_rpc_reply(state_).reply_type == AMQP_RESPONSE_NORMAL;
    }
    ~RabbitmqClient() { amqp_destroy_connection(state_); }
    RabbitmqClient(const RabbitmqClient&) = delete;
    RabbitmqClient& operator=(const RabbitmqClient&) = delete;

    [[nodiscard]] bool answers() const { return answers_; }

    // A durable queue, for which `arguments` may hold a number or a text each.
    void declare(
        const std::string& queue,
        const std::map<std::string, std::string>& arguments = {}
    ) {
        std::vector<amqp_table_entry_t> entries;
        for (const auto& [name, value] : arguments) {
            amqp_table_entry_t entry{};
            entry.key = amqp_cstring_bytes(name.c_str());
            if (value.find_first_not_of("0123456789") == std::string::npos) {
                entry.value.kind = AMQP_FIELD_KIND_I32;
                entry.value.value.i32 = std::stoi(value);
            } else {
                entry.value.kind = AMQP_FIELD_KIND_UTF8;
                entry.value.value.bytes = amqp_cstring_bytes(value.c_str());
            }
            entries.push_back(entry);
        }
        const amqp_table_t table = {static_cast<int>(entries.size()), entries.data()};
        amqp_queue_declare(state_, 1, amqp_cstring_bytes(queue.c_str()), 0, 1, 0, 0, table);
        expect_good("queue.declare");
    }

    void declare_exchange(const std::string& exchange) {
        amqp_exchange_declare(
            state_,
            1,
            amqp_cstring_bytes(exchange.c_str()),
            amqp_cstring_bytes("topic"),
            0,
            1,
            0,
            0,
            amqp_empty_table
        );
        expect_good("exchange.declare");
    }
    void delete_exchange(const std::string& exchange) {
        amqp_exchange_delete(state_, 1, amqp_cstring_bytes(exchange.c_str()), 0);
        expect_good("exchange.delete");
    }

    void bind(const std::string& queue, const std::string& exchange, const std::string& key) {
        amqp_queue_bind(
            state_,
            1,
            amqp_cstring_bytes(queue.c_str()),
            amqp_cstring_bytes(exchange.c_str()),
            amqp_cstring_bytes(key.c_str()),
            amqp_empty_table
        );
        expect_good("queue.bind");
    }

    void unbind(const std::string& queue, const std::string& exchange, const std::string& key) {
        amqp_queue_unbind(
            state_,
            1,
            amqp_cstring_bytes(queue.c_str()),
            amqp_cstring_bytes(exchange.c_str()),
            amqp_cstring_bytes(key.c_str()),
            amqp_empty_table
        );
        expect_good("queue.unbind");
    }

    void remove(const std::string& queue) {
        amqp_queue_delete(state_, 1, amqp_cstring_bytes(queue.c_str()), 0, 0);
        expect_good("queue.delete");
    }

    [[nodiscard]] std::size_t count(const std::string& queue) {
        const amqp_queue_declare_ok_t* found = amqp_queue_declare(
            state_, 1, amqp_cstring_bytes(queue.c_str()), 1, 1, 0, 0, amqp_empty_table
        );
        return found == nullptr ? 0 : found->message_count;
    }

    // Takes everything out of the queue.
    [[nodiscard]] std::vector<Fetched> fetch(const std::string& queue) {
        std::vector<Fetched> all;
        while (true) {
            const amqp_rpc_reply_t got =
                amqp_basic_get(state_, 1, amqp_cstring_bytes(queue.c_str()), 1);
            if (got.reply_type != AMQP_RESPONSE_NORMAL ||
                got.reply.id != AMQP_BASIC_GET_OK_METHOD) {
                return all;
            }
            const auto* ok = static_cast<const amqp_basic_get_ok_t*>(got.reply.decoded);
            Fetched one;
            one.exchange = text(ok->exchange);
            one.routing_key = text(ok->routing_key);
            amqp_message_t message;
            EXPECT_EQ(amqp_read_message(state_, 1, &message, 0).reply_type, AMQP_RESPONSE_NORMAL);
            read(one, message);
            amqp_destroy_message(&message);
            amqp_maybe_release_buffers(state_);
            all.push_back(std::move(one));
        }
    }

private:
    static void read(Fetched& one, const amqp_message_t& message) {
        const amqp_basic_properties_t& properties = message.properties;
        const auto has = [&](amqp_flags_t flag) { return (properties._flags & flag) != 0; };
        one.payload = text(message.body);
        if (has(AMQP_BASIC_MESSAGE_ID_FLAG)) one.message_id = text(properties.message_id);
        if (has(AMQP_BASIC_TYPE_FLAG)) one.type = text(properties.type);
        if (has(AMQP_BASIC_CONTENT_TYPE_FLAG)) one.content_type = text(properties.content_type);
        if (has(AMQP_BASIC_DELIVERY_MODE_FLAG)) one.delivery_mode = properties.delivery_mode;
        if (has(AMQP_BASIC_TIMESTAMP_FLAG)) one.timestamp = properties.timestamp;
        for (int i = 0; i < properties.headers.num_entries; ++i) {
            const amqp_table_entry_t& entry = properties.headers.entries[i];
            one.headers.emplace_back(text(entry.key), text(entry.value.value.bytes));
        }
    }

    void expect_good(const char* what) const {
        EXPECT_EQ(amqp_get_rpc_reply(state_).reply_type, AMQP_RESPONSE_NORMAL) << what;
    }

    amqp_connection_state_t state_;
    bool answers_ = false;
};

}  // namespace outrider::live
