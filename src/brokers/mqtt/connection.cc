#include "brokers/mqtt/connection.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include <mqtt_protocol.h>
#include <poll.h>

#include "brokers/mqtt/connack.h"
#include "brokers/wire/files.h"
#include "brokers/wire/socket.h"
#include "core/clock.h"

namespace outrider::mqtt {
namespace {

constexpr std::size_t kWindowMax = 1000;
constexpr const char* kNameTopic = "$SYS/broker/version";
constexpr std::size_t kNameBytes = 100;
constexpr std::uint16_t kReceiveDefault = 65'535;  // of a server that says nothing

// The library's own state, once per process. It is never taken down: other threads may use it.
void prepare_library() {
    static const int code = mosquitto_lib_init();
    OUTRIDER_ASSERT(code == MOSQ_ERR_SUCCESS);
}

const char* or_null(const std::string& text) {
    return text.empty() ? nullptr : text.c_str();
}

// What the server said besides a code.
std::string reason_in(const mosquitto_property* properties) {
    char* text = nullptr;
    mosquitto_property_read_string(properties, MQTT_PROP_REASON_STRING, &text, false);
    const std::unique_ptr<char, decltype(&std::free)> owner(text, &std::free);
    return text == nullptr ? std::string() : std::string(text);
}

}  // namespace

Error mqtt_error(std::string_view what, int code) {
    const int number = code == MOSQ_ERR_ERRNO ? errno : code;
    return Error{Remedy::wait, std::string(what) + ": " + mosquitto_strerror(code), number};
}

Connection::Connection(MqttOptions options) : options_(std::move(options)) {
    prepare_library();
    // Without a name of ours: the server gives one, and workers cannot take it from each other.
    handle_.reset(mosquitto_new(nullptr, true, this));
    OUTRIDER_ASSERT(handle_ != nullptr);
}

Result<std::unique_ptr<Connection>> Connection::open(
    const MqttOptions& options,
    Deadline deadline
) {
    if (Result<void> good = wire::check_files(options); !good) return good.error();
    Error error{Remedy::correct, "no server is named"};
    std::size_t left = options.endpoints.size();
    for (const wire::Endpoint& endpoint : options.endpoints) {
        const auto share = std::chrono::milliseconds(wire::millis_left(deadline)) / left--;
        auto connection = std::make_unique<Connection>(options);
        Result<void> connected = connection->connect(endpoint, SystemClock().now() + share);
        if (connected) return connection;
        error = connected.error();
        error.text = wire::to_string(endpoint) + ": " + error.text;
    }
    return error;
}

Result<void> Connection::set_up() {
    mosquitto* const handle = handle_.get();
    mosquitto_int_option(handle, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5);
    mosquitto_int_option(handle, MOSQ_OPT_TCP_NODELAY, 1);
    mosquitto_int_option(handle, MOSQ_OPT_SEND_MAXIMUM, static_cast<int>(kWindowMax));
    mosquitto_connect_v5_callback_set(handle, &Connection::on_connect);
    mosquitto_disconnect_v5_callback_set(handle, &Connection::on_disconnect);
    mosquitto_publish_v5_callback_set(handle, &Connection::on_publish);
    mosquitto_unsubscribe_v5_callback_set(handle, &Connection::on_unsubscribe);
    mosquitto_message_callback_set(handle, &Connection::on_message);
    if (!options_.user.empty()) {
        mosquitto_username_pw_set(handle, options_.user.c_str(), or_null(options_.password));
    }
    if (!options_.tls) return {};
    const bool is_own = !options_.tls_ca.empty();
    mosquitto_int_option(handle, MOSQ_OPT_TLS_USE_OS_CERTS, is_own ? 0 : 1);
    const int code = mosquitto_tls_set(
        handle,
        or_null(options_.tls_ca),
        is_own ? nullptr : "/etc/ssl/certs",
        or_null(options_.tls_cert),
        or_null(options_.tls_key),
        nullptr
    );
    if (code != MOSQ_ERR_SUCCESS) return mqtt_error("cannot use the TLS files", code);
    return {};
}

Result<void> Connection::connect(const wire::Endpoint& endpoint, Deadline deadline) {
    if (Result<void> ready = set_up(); !ready) return ready;
    const auto keepalive = std::chrono::duration_cast<std::chrono::seconds>(options_.keepalive);
    // The call that does not wait for the server: the other one knows no deadline.
    const int code = mosquitto_connect_async(
        handle_.get(), endpoint.host.c_str(), endpoint.port, static_cast<int>(keepalive.count())
    );
    if (code != MOSQ_ERR_SUCCESS) return mqtt_error("cannot connect", code);
    while (!is_connected_) {
        if (wire::millis_left(deadline) == 0) {
            return Error{Remedy::wait, "cannot connect: no answer before the deadline"};
        }
        if (Result<void> moved = pump(deadline); !moved) return moved;
    }
    return check_server();
}

// The library would take the mark off without a word, and the server say that nobody has
// subscribed, as it does of what it keeps.
Result<void> Connection::check_server() const {
    if (retains_ || !options_.retain) return {};
    return Error{
        Remedy::correct,
        "retain=true, but this server keeps no retained messages: let it (mosquitto: "
        "retain_available true), or take retain=true off the URL"};
}

bool Connection::is_stale() const {
    const int socket = mosquitto_socket(handle_.get());
    return socket < 0 || wire::is_stale(socket);
}

Error Connection::fault(std::string_view what, int code) const {
    if (refusal_ == 0) return mqtt_error(what, code);
    return Error{
        Remedy::wait,
        "the MQTT server said: " + std::string(mosquitto_reason_string(refusal_)),
        refusal_};
}

Result<void> Connection::pump(Deadline deadline) {
    const int socket = mosquitto_socket(handle_.get());
    if (socket < 0) return fault("the connection is gone", MOSQ_ERR_CONN_LOST);
    pollfd entry{socket, POLLIN | POLLRDHUP, 0};
    if (mosquitto_want_write(handle_.get())) entry.events |= POLLOUT;
    const int ready = ::poll(&entry, 1, wire::millis_left(deadline));
    if (ready < 0 && errno != EINTR) return mqtt_error("cannot wait", MOSQ_ERR_ERRNO);
    // First what has come: a server that hangs up may have answered before.
    bool reads = (entry.revents & (POLLIN | POLLHUP | POLLERR)) != 0;
    if (reads && !is_connected_ && !options_.tls) {
        const bool is_over = (entry.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
        const Result<bool> greeted = check_greeting(socket, is_over);
        if (!greeted) return greeted.error();
        reads = *greeted;
    }
    int code = reads ? mosquitto_loop_read(handle_.get(), 1) : MOSQ_ERR_SUCCESS;
    const bool writes = code == MOSQ_ERR_SUCCESS && (entry.revents & POLLOUT) != 0;
    if (writes) code = mosquitto_loop_write(handle_.get(), 1);
    if (code == MOSQ_ERR_SUCCESS) code = mosquitto_loop_misc(handle_.get());
    if (code != MOSQ_ERR_SUCCESS || refusal_ != 0) return fault("the connection broke", code);
    return {};
}

void Connection::drain() {
    while (mosquitto_socket(handle_.get()) >= 0) {
        pollfd entry{mosquitto_socket(handle_.get()), POLLIN, 0};
        if (::poll(&entry, 1, 0) <= 0) return;
        if (mosquitto_loop_read(handle_.get(), 1) != MOSQ_ERR_SUCCESS) return;
    }
}

std::vector<Connection::Ack> Connection::take_acks() {
    return std::exchange(acks_, {});
}

// The library offers no ping of its own. Nobody subscribes, so there is nothing to lose.
Result<void> Connection::ask(Deadline deadline) {
    return unsubscribe("outrider/ping", deadline);
}

// A retained message: servers that have it send it before they answer what comes behind.
Result<std::string> Connection::name(Deadline deadline) {
    name_.clear();
    const int code = mosquitto_subscribe(handle_.get(), nullptr, kNameTopic, 0);
    if (code != MOSQ_ERR_SUCCESS) return mqtt_error("cannot ask", code);
    if (Result<void> done = unsubscribe(kNameTopic, deadline); !done) return done.error();
    return name_;
}

Result<void> Connection::unsubscribe(const char* topic, Deadline deadline) {
    was_asked_ = false;
    const int code = mosquitto_unsubscribe(handle_.get(), nullptr, topic);
    if (code != MOSQ_ERR_SUCCESS) return mqtt_error("cannot ask", code);
    while (!was_asked_) {
        if (wire::millis_left(deadline) == 0) {
            return Error{Remedy::wait, "no answer before the deadline"};
        }
        if (Result<void> moved = pump(deadline); !moved) return moved;
    }
    return {};
}

void Connection::on_connect(
    mosquitto* /*handle*/,
    void* self,
    int code,
    int /*flags*/,
    const mosquitto_property* properties
) {
    auto& connection = *static_cast<Connection*>(self);
    connection.is_connected_ = code == MQTT_RC_SUCCESS;
    connection.refusal_ = code;
    std::uint16_t window = kReceiveDefault;
    mosquitto_property_read_int16(properties, MQTT_PROP_RECEIVE_MAXIMUM, &window, false);
    connection.window_ = std::clamp<std::size_t>(window, 1, kWindowMax);
    std::uint8_t retains = 1;  // of a server that says nothing
    mosquitto_property_read_byte(properties, MQTT_PROP_RETAIN_AVAILABLE, &retains, false);
    connection.retains_ = retains != 0;
}

// Codes from 128 on are the server's own, smaller ones those of the library.
void Connection::on_disconnect(
    mosquitto* /*handle*/,
    void* self,
    int code,
    const mosquitto_property* /*properties*/
) {
    auto& connection = *static_cast<Connection*>(self);
    if (code >= MQTT_RC_UNSPECIFIED && connection.refusal_ == 0) connection.refusal_ = code;
}

void Connection::on_publish(
    mosquitto* /*handle*/,
    void* self,
    int id,
    int code,
    const mosquitto_property* properties
) {
    static_cast<Connection*>(self)->acks_.push_back({id, code, reason_in(properties)});
}

void Connection::on_unsubscribe(
    mosquitto* /*handle*/,
    void* self,
    int /*id*/,
    const mosquitto_property* /*properties*/
) {
    static_cast<Connection*>(self)->was_asked_ = true;
}

void Connection::on_message(mosquitto* /*handle*/, void* self, const mosquitto_message* message) {
    const auto size = std::min(static_cast<std::size_t>(message->payloadlen), kNameBytes);
    static_cast<Connection*>(self)->name_.assign(static_cast<const char*>(message->payload), size);
}

}  // namespace outrider::mqtt
