#include "brokers/rabbitmq/connection.h"

#include <algorithm>
#include <array>

#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "brokers/wire/files.h"
#include "brokers/wire/socket.h"
#include "core/clock.h"

namespace outrider::rabbitmq {
namespace {

constexpr int kFrameBytesMax = 131'072;

// Those of the system, which the library does not find by itself.
constexpr const char* kAuthorities = "/etc/ssl/certs/ca-certificates.crt";

timeval time_left(Deadline deadline) {
    const long millis = wire::millis_left(deadline);
    return {millis / 1000, (millis % 1000) * 1000};
}

// The server's sentence, if it was the server who did not want.
Closure closure_of(const amqp_rpc_reply_t& reply) {
    if (reply.reply_type != AMQP_RESPONSE_SERVER_EXCEPTION) return {};
    if (reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD) {
        const auto* close = static_cast<const amqp_channel_close_t*>(reply.reply.decoded);
        return {close->reply_code, std::string(to_view(close->reply_text))};
    }
    if (reply.reply.id == AMQP_CONNECTION_CLOSE_METHOD) {
        const auto* close = static_cast<const amqp_connection_close_t*>(reply.reply.decoded);
        return {close->reply_code, std::string(to_view(close->reply_text))};
    }
    return {};
}

Result<void> check(std::string_view what, const amqp_rpc_reply_t& reply) {
    if (reply.reply_type == AMQP_RESPONSE_NORMAL) return {};
    if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION) {
        return amqp_error(what, reply.library_error);
    }
    const Closure closure = closure_of(reply);
    return Error{
        Remedy::wait,
        std::string(what) + ": RabbitMQ said: " + closure.text,
        static_cast<int>(closure.code)};
}

amqp_table_entry_t entry(const char* name, bool value) {
    amqp_table_entry_t made{};
    made.key = amqp_cstring_bytes(name);
    made.value.kind = AMQP_FIELD_KIND_BOOLEAN;
    made.value.value.boolean = value ? 1 : 0;
    return made;
}

wire::Tls tls_of(const wire::Tls& options) {
    wire::Tls tls = options;
    if (tls.tls && tls.tls_ca.empty()) tls.tls_ca = kAuthorities;
    return tls;
}

amqp_socket_t* make_socket(amqp_connection_state_t state, const wire::Tls& tls) {
    if (!tls.tls) return amqp_tcp_socket_new(state);
    amqp_socket_t* socket = amqp_ssl_socket_new(state);
    if (socket == nullptr) return nullptr;
    amqp_ssl_socket_set_verify_peer(socket, 1);
    amqp_ssl_socket_set_verify_hostname(socket, 1);
    if (amqp_ssl_socket_set_ssl_versions(socket, AMQP_TLSv1_2, AMQP_TLSvLATEST) != 0)
        return nullptr;
    if (amqp_ssl_socket_set_cacert(socket, tls.tls_ca.c_str()) != 0) return nullptr;
    if (tls.tls_cert.empty()) return socket;
    const int status = amqp_ssl_socket_set_key(socket, tls.tls_cert.c_str(), tls.tls_key.c_str());
    return status == 0 ? socket : nullptr;
}

// The library does not say why it got no connection: another try that does.
Error why_not(const std::string& what, int status, const wire::Endpoint& endpoint, Deadline by) {
    if (status == AMQP_STATUS_SOCKET_ERROR) {
        if (const Result<Descriptor> again = wire::dial(endpoint, by); !again) return again.error();
    }
    return amqp_error(what, status);
}

}  // namespace

Error amqp_error(std::string_view what, int status) {
    return Error{Remedy::wait, std::string(what) + ": " + amqp_error_string2(status), status};
}

Connection::Connection() : state_(amqp_new_connection()) {
}

// Says goodbye if that can be done at once; a server that has stopped reading must not hold us up.
Connection::~Connection() {
    if (is_broken_ || socket() < 0) return;
    amqp_connection_close_t goodbye{};
    goodbye.reply_code = AMQP_REPLY_SUCCESS;
    pollfd writable{socket(), POLLOUT, 0};
    if (::poll(&writable, 1, 0) == 1) {
        amqp_send_method(state_.get(), 0, AMQP_CONNECTION_CLOSE_METHOD, &goodbye);
    }
}

Result<std::unique_ptr<Connection>> Connection::open(
    const RabbitmqOptions& options,
    Deadline deadline
) {
    if (Result<void> good = wire::check_files(tls_of(options)); !good) return good.error();
    Result<void> connected = Error{Remedy::correct, "no server is named"};
    std::size_t left = options.endpoints.size();
    for (const wire::Endpoint& endpoint : options.endpoints) {
        const auto share = std::chrono::milliseconds(wire::millis_left(deadline)) / left--;
        std::unique_ptr<Connection> connection(new Connection);
        connected = connection->connect(options, endpoint, SystemClock().now() + share);
        if (connected) return connection;
        connection->is_broken_ = true;
    }
    return connected.error();
}

Result<void> Connection::connect(
    const RabbitmqOptions& options,
    const wire::Endpoint& endpoint,
    Deadline deadline
) {
    const std::string what = "cannot connect to " + wire::to_string(endpoint);
    amqp_socket_t* socket = make_socket(state_.get(), tls_of(options));
    if (socket == nullptr) {
        return Error{Remedy::correct, what + ": the TLS files cannot be used"};
    }
    timeval patience = time_left(deadline);
    const int status =
        amqp_socket_open_noblock(socket, endpoint.host.c_str(), endpoint.port, &patience);
    if (status != AMQP_STATUS_OK) return why_not(what, status, endpoint, deadline);
    const int one = 1;
    ::setsockopt(this->socket(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    set_patience(deadline);
    if (Result<void> in = log_in(options, deadline); !in) {
        return Error{in.error().remedy, what + ": " + in.error().text, in.error().native_code};
    }
    return open_channel();
}

// Only those who say that they understand it are told that they are blocked.
Result<void> Connection::log_in(const RabbitmqOptions& options, Deadline deadline) {
    std::array<amqp_table_entry_t, 2> abilities = {
        entry("connection.blocked", true), entry("authentication_failure_close", true)};
    amqp_table_entry_t capabilities{};
    capabilities.key = amqp_cstring_bytes("capabilities");
    capabilities.value.kind = AMQP_FIELD_KIND_TABLE;
    capabilities.value.value.table = {static_cast<int>(abilities.size()), abilities.data()};
    const amqp_table_t properties = {1, &capabilities};
    timeval patience = time_left(deadline);
    amqp_set_handshake_timeout(state_.get(), &patience);
    const auto heartbeat = std::chrono::ceil<std::chrono::seconds>(options.heartbeat).count();
    const amqp_rpc_reply_t reply = amqp_login_with_properties(
        state_.get(),
        options.vhost.c_str(),
        0,
        kFrameBytesMax,
        static_cast<int>(heartbeat),
        &properties,
        AMQP_SASL_METHOD_PLAIN,
        options.user.c_str(),
        options.password.c_str()
    );
    Result<void> in = check("login", reply);
    if (in) return in;
    return Error{Remedy::wait, wire::without_secret(in.error().text, options.password)};
}

Result<void> Connection::open_channel() {
    amqp_channel_open(state_.get(), kChannel);
    if (Result<void> open = check("channel.open", amqp_get_rpc_reply(state_.get())); !open) {
        return open;
    }
    amqp_confirm_select(state_.get(), kChannel);
    return check("confirm.select", amqp_get_rpc_reply(state_.get()));
}

std::string Connection::server() const {
    std::string product = "AMQP";
    std::string version;
    const amqp_table_t* properties = amqp_get_server_properties(state_.get());
    for (int i = 0; properties != nullptr && i < properties->num_entries; ++i) {
        const amqp_table_entry_t& entry = properties->entries[i];
        if (entry.value.kind != AMQP_FIELD_KIND_UTF8) continue;
        const std::string value(to_view(entry.value.value.bytes));
        if (to_view(entry.key) == "product") product = value;
        if (to_view(entry.key) == "version") version = " " + value;
    }
    return product + version;
}

Result<void> Connection::reopen(Deadline deadline) {
    set_patience(deadline);
    amqp_channel_close_ok_t seen{};
    const int status =
        amqp_send_method(state_.get(), kChannel, AMQP_CHANNEL_CLOSE_OK_METHOD, &seen);
    if (status != AMQP_STATUS_OK) return amqp_error("channel.close-ok", status);
    known_exchanges_.clear();
    last_tag_ = 0;
    return open_channel();
}

Result<Closure> Connection::look_for(const std::string& exchange, Deadline deadline) {
    const auto known = std::find(known_exchanges_.begin(), known_exchanges_.end(), exchange);
    if (exchange.empty() || known != known_exchanges_.end()) return Closure{};
    set_patience(deadline);
    amqp_channel_open(state_.get(), kQuestionChannel);
    Result<void> open = check("channel.open", amqp_get_rpc_reply(state_.get()));
    if (!open) return open.error();
    amqp_exchange_declare(
        state_.get(),
        kQuestionChannel,
        to_bytes(exchange),
        to_bytes("topic"),
        1,  // passive: only whether it is there
        0,
        0,
        0,
        amqp_empty_table
    );
    const amqp_rpc_reply_t reply = amqp_get_rpc_reply(state_.get());
    if (reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION &&
        reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD) {
        Closure closure = closure_of(reply);
        amqp_channel_close_ok_t seen{};
        amqp_send_method(state_.get(), kQuestionChannel, AMQP_CHANNEL_CLOSE_OK_METHOD, &seen);
        return closure;
    }
    if (Result<void> found = check("exchange.declare", reply); !found) return found.error();
    known_exchanges_.push_back(exchange);
    const Result<void> closed = check(
        "channel.close", amqp_channel_close(state_.get(), kQuestionChannel, AMQP_REPLY_SUCCESS)
    );
    if (!closed) return closed.error();
    return Closure{};
}

Result<std::uint64_t> Connection::publish(const Publication& publication) {
    const int status = amqp_basic_publish(
        state_.get(),
        kChannel,
        to_bytes(publication.exchange),
        to_bytes(publication.routing_key),
        1,  // mandatory: what no queue takes comes back
        0,
        publication.properties,
        to_bytes(publication.payload)
    );
    if (status == AMQP_STATUS_OK) return ++last_tag_;
    is_broken_ = true;
    return amqp_error("cannot publish", status);
}

Result<bool> Connection::next(amqp_frame_t& frame, Deadline deadline) {
    timeval patience = time_left(deadline);
    const int status = amqp_simple_wait_frame_noblock(state_.get(), &frame, &patience);
    if (status == AMQP_STATUS_OK) return true;
    if (status == AMQP_STATUS_TIMEOUT) return false;
    is_broken_ = true;
    return amqp_error("no answer of RabbitMQ", status);
}

bool Connection::is_stale() {
    amqp_frame_t frame{};
    const Result<bool> found = next(frame, SystemClock().now());
    if (found && !*found) return false;
    is_broken_ = true;
    return true;
}

Result<void> Connection::ask(Deadline deadline) {
    set_patience(deadline);
    amqp_channel_open(state_.get(), kQuestionChannel);
    if (Result<void> open = check("channel.open", amqp_get_rpc_reply(state_.get())); !open) {
        is_broken_ = true;
        return open;
    }
    return check(
        "channel.close", amqp_channel_close(state_.get(), kQuestionChannel, AMQP_REPLY_SUCCESS)
    );
}

void Connection::release() {
    amqp_maybe_release_buffers_on_channel(state_.get(), kChannel);
}

void Connection::set_patience(Deadline deadline) {
    timeval patience = time_left(deadline);
    amqp_set_rpc_timeout(state_.get(), &patience);
}

int Connection::socket() const {
    return amqp_get_sockfd(state_.get());
}

std::size_t Connection::frame_bytes_max() const {
    return static_cast<std::size_t>(amqp_get_frame_max(state_.get()));
}

}  // namespace outrider::rabbitmq
