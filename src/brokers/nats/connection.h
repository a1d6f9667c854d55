#pragma once

#include <memory>
#include <string>

#include <nats/nats.h>

#include "brokers/nats/options.h"
#include "core/result.h"

namespace outrider::nats {

template <class T, void (*destroy)(T*)>
struct Destroy {
    void operator()(T* object) const { destroy(object); }
};

using Message = std::unique_ptr<natsMsg, Destroy<natsMsg, natsMsg_Destroy>>;

// One connection with an inbox of its own for what comes back. The library's asynchronous publish
// is not used: its callbacks come from other threads, at any time, and cannot be waited out. Here
// every reply is fetched by the caller, and what nobody fetched goes with the connection. The
// library does not reconnect either, so nothing is sent again behind the caller's back. One thread
// at a time.
class Connection {
public:
    // Tries the servers one after the other, all within the deadline. A user who may not hear
    // answers is not let in. The error's text never contains a secret.
    [[nodiscard]] static Result<Connection> open(const NatsOptions& options, Deadline deadline);

    // Where replies are to be sent: any token behind this prefix.
    [[nodiscard]] const std::string& inbox() const { return inbox_; }

    // Hands the message to the library. It is written to the socket at once, or by flush().
    [[nodiscard]] natsStatus publish(natsMsg& message);

    // Asks JetStream like ask(), but its answer comes to `reply`, among all others.
    [[nodiscard]] natsStatus ask_later(
        const std::string& question,
        const std::string& body,
        const std::string& reply
    );

    // Writes what was published and waits until the server has read all of it. By then it has said
    // which subjects nobody listens to, and which may not be used.
    [[nodiscard]] Result<void> flush(Deadline deadline);

    // What next() found.
    enum class Found : std::uint8_t { reply, nobody };

    // The next reply. `nobody`: nobody listens to the subject of one of the messages; the library
    // does not say of which.
    [[nodiscard]] Result<Found> next(Message& reply, Deadline deadline);

    // The last complaint of the server about a subject that may not be used. Empty: none.
    [[nodiscard]] std::string denial() const;

    // What the server greets its clients with: a JSON object.
    [[nodiscard]] static Result<std::string> greeting(
        const NatsOptions& options,
        Deadline deadline
    );

    // Whether JetStream can be asked at all.
    [[nodiscard]] bool has_api() const { return !api_.empty(); }

    // Asks JetStream, e.g. "STREAM.INFO.orders", and comes back with its JSON. The error's native
    // code is NATS_NOT_PERMITTED if the user may not ask, or there is no API.
    [[nodiscard]] Result<std::string> ask(
        const std::string& question,
        const std::string& body,
        Deadline deadline
    );

    [[nodiscard]] bool is_closed() const;

    // The most bytes of headers and payload together.
    [[nodiscard]] std::size_t message_bytes_max() const;

private:
    using Handle = std::unique_ptr<natsConnection, Destroy<natsConnection, natsConnection_Destroy>>;
    using Subscription =
        std::unique_ptr<natsSubscription, Destroy<natsSubscription, natsSubscription_Destroy>>;

    Connection(Handle handle, Subscription replies, std::string inbox, std::string api);

    // A subscription to a new inbox, whose subject goes to `inbox`.
    [[nodiscard]] static Result<Subscription> listen(
        natsConnection* connection,
        std::string_view tail,
        std::string& inbox
    );

    [[nodiscard]] static Result<Connection> open_one(
        const NatsOptions& options,
        const wire::Endpoint& endpoint,
        Deadline deadline
    );

    // Whether the server lets us hear what comes back.
    [[nodiscard]] Result<void> check_inbox(Deadline deadline);

    Handle handle_;
    Subscription replies_;
    std::string inbox_;
    std::string api_;
};

// What the library says about a status, with its own details where they belong to it.
[[nodiscard]] Error nats_error(std::string_view what, natsStatus status);

}  // namespace outrider::nats
