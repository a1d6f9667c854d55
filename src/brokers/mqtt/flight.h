#pragma once

#include <span>
#include <unordered_map>

#include "brokers/mqtt/connection.h"
#include "brokers/mqtt/writer.h"
#include "core/batch.h"
#include "core/verdict.h"

namespace outrider::mqtt {

// One burst on its way: published with as many unacknowledged messages as the server allows.
class Flight {
public:
    struct Parts {
        Connection& connection;
        Writer& writer;
        const MqttOptions& options;
        std::span<const Envelope> envelopes;
        std::span<Answer> answers;
        Deadline deadline;
        bool one_by_one;  // no message is sent before the one ahead of it was answered
    };

    explicit Flight(Parts parts) : parts_(parts) {}

    // Publishes everything that has no answer yet and collects the answers. An error leaves the
    // rest unanswered; the connection must then go, since the library would send what it still
    // holds.
    [[nodiscard]] Result<void> make();

    // Whether the server has answered for any message, and whether it has refused one. Mosquitto
    // hangs up after some refusals, and what was behind that message deserves another connection.
    [[nodiscard]] bool had_answer() const { return had_answer_; }
    [[nodiscard]] bool had_refusal() const { return had_refusal_; }

private:
    [[nodiscard]] Result<void> publish_all();
    [[nodiscard]] Result<void> send(std::size_t place);
    [[nodiscard]] Result<void> wait_for_room(std::size_t most);
    void take_acks();

    struct Open {
        std::size_t place = 0;
        bool is_kept = false;  // by the server, for those who subscribe later
    };

    Parts parts_;
    std::unordered_map<int, Open> open_;  // by the library's number of a message
    std::size_t open_bytes_ = 0;
    bool had_answer_ = false;
    bool had_refusal_ = false;
};

}  // namespace outrider::mqtt
