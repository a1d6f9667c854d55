#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <mosquitto.h>

#include "brokers/mqtt/options.h"
#include "core/result.h"

namespace outrider::mqtt {

// Frees a list of properties, which the library only takes by the address of its pointer.
struct DestroyProperties {
    void operator()(mosquitto_property* list) const { mosquitto_property_free_all(&list); }
};
using Properties = std::unique_ptr<mosquitto_property, DestroyProperties>;

// What libmosquitto says about one of its codes, behind what was tried.
[[nodiscard]] Error mqtt_error(std::string_view what, int code);

// One session with a server: opened clean, closed with everything in it. The library holds its
// address. One thread at a time.
class Connection {
public:
    // The server's answer for one message.
    struct Ack {
        int id = 0;
        int reason_code = 0;
        std::string text;  // what the server said about it; may be empty
    };

    // Tries every server, all of them within the deadline. One that keeps no retained messages is
    // refused where they are asked for.
    [[nodiscard]] static Result<std::unique_ptr<Connection>> open(
        const MqttOptions& options,
        Deadline deadline
    );
    explicit Connection(MqttOptions options);
    ~Connection() = default;
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    [[nodiscard]] mosquitto* get() const { return handle_.get(); }

    // How many messages the server takes before it has acknowledged one.
    [[nodiscard]] std::size_t window() const { return window_; }

    // Whether the server has closed it, or said something nobody asked for.
    [[nodiscard]] bool is_stale() const;

    // Waits until something has moved, at most until the deadline. An error ends the connection.
    [[nodiscard]] Result<void> pump(Deadline deadline);

    // Reads what has come already, from a connection that is broken or given up.
    void drain();

    // What was acknowledged since the last call.
    [[nodiscard]] std::vector<Ack> take_acks();

    // A question to the server and its answer: it is there, and has read all that was sent.
    [[nodiscard]] Result<void> ask(Deadline deadline);

    // What the server calls itself; empty: it does not say, or not to us. An error ends the
    // connection: there are servers that hang up on who asks for what is not theirs.
    [[nodiscard]] Result<std::string> name(Deadline deadline);

private:
    [[nodiscard]] Result<void> connect(const wire::Endpoint& endpoint, Deadline deadline);
    [[nodiscard]] Result<void> set_up();
    [[nodiscard]] Result<void> check_server() const;
    [[nodiscard]] Result<void> unsubscribe(const char* topic, Deadline deadline);
    [[nodiscard]] Error fault(std::string_view what, int code) const;

    static void on_connect(mosquitto*, void* self, int, int, const mosquitto_property*);
    static void on_disconnect(mosquitto*, void* self, int code, const mosquitto_property*);
    static void on_publish(mosquitto*, void* self, int, int, const mosquitto_property*);
    static void on_unsubscribe(mosquitto*, void* self, int, const mosquitto_property*);
    static void on_message(mosquitto*, void* self, const mosquitto_message* message);

    struct Destroy {
        void operator()(mosquitto* handle) const { mosquitto_destroy(handle); }
    };

    const MqttOptions options_;
    std::unique_ptr<mosquitto, Destroy> handle_;
    bool is_connected_ = false;
    bool was_asked_ = false;
    int refusal_ = 0;  // the code with which the server refused or ended the connection
    std::size_t window_ = 0;
    bool retains_ = true;  // whether the server keeps the last message of a topic
    std::vector<Ack> acks_;
    std::string name_;
};

}  // namespace outrider::mqtt
