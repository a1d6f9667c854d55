#pragma once

#include <memory>
#include <string>

#include <amqp.h>
#include <amqp_framing.h>

#include "brokers/rabbitmq/classify.h"
#include "brokers/rabbitmq/options.h"
#include "brokers/rabbitmq/watchdog.h"
#include "core/result.h"

namespace outrider::rabbitmq {

[[nodiscard]] inline amqp_bytes_t to_bytes(std::string_view text) {
    return {text.size(), const_cast<char*>(text.data())};
}

[[nodiscard]] inline std::string_view to_view(amqp_bytes_t bytes) {
    return {static_cast<const char*>(bytes.bytes), bytes.len};
}

// One connection with one channel in confirm mode. Frames are read by the caller: this version of
// the library has no notion of confirms. After an error it is of no further use. One thread at a
// time.
class Connection {
public:
    // Tries the servers one after the other, all within the deadline. The error's text never
    // contains the password.
    [[nodiscard]] static Result<std::unique_ptr<Connection>> open(
        const RabbitmqOptions& options,
        Deadline deadline
    );
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // One message, mandatory. Comes back with its delivery tag.
    struct Publication {
        std::string_view exchange;
        std::string_view routing_key;
        std::string_view payload;
        const amqp_basic_properties_t* properties = nullptr;
    };
    [[nodiscard]] Result<std::uint64_t> publish(const Publication& publication);

    // Reads the next frame. False: none came before the deadline.
    [[nodiscard]] Result<bool> next(amqp_frame_t& frame, Deadline deadline);

    // Opens the channel again after the server has closed it. Delivery tags begin anew.
    [[nodiscard]] Result<void> reopen(Deadline deadline);

    // Whether the exchange is there; the closure says why not. Asked once per exchange.
    [[nodiscard]] Result<Closure> look_for(const std::string& exchange, Deadline deadline);

    // Whether it is still good: nothing but heartbeats has come since it was last used.
    [[nodiscard]] bool is_stale();

    // Asks the server for something, so that it must answer.
    [[nodiscard]] Result<void> ask(Deadline deadline);

    // Name and version of the server, as it says.
    [[nodiscard]] std::string server() const;

    // Frames read so far may be forgotten.
    void release();

    [[nodiscard]] int socket() const;
    [[nodiscard]] std::size_t frame_bytes_max() const;

private:
    struct Destroy {
        void operator()(amqp_connection_state_t state) const { amqp_destroy_connection(state); }
    };
    using State = std::unique_ptr<amqp_connection_state_t_, Destroy>;

    Connection();

    [[nodiscard]] Result<void> connect(
        const RabbitmqOptions& options,
        const wire::Endpoint& endpoint,
        Deadline deadline
    );
    [[nodiscard]] Result<void> log_in(const RabbitmqOptions& options, Deadline deadline);
    [[nodiscard]] Result<void> open_channel();
    void set_patience(Deadline deadline);

    State state_;
    std::vector<std::string> known_exchanges_;
    std::uint64_t last_tag_ = 0;  // of the channel
    bool is_broken_ = false;
};

// The channel that everything is published on, and the one for questions that may close it.
inline constexpr amqp_channel_t kChannel = 1;
inline constexpr amqp_channel_t kQuestionChannel = 2;

// The library's own words for one of its codes.
[[nodiscard]] Error amqp_error(std::string_view what, int status);

}  // namespace outrider::rabbitmq
