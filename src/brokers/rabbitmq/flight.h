#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "brokers/rabbitmq/connection.h"
#include "brokers/rabbitmq/writer.h"
#include "brokers/wire/chains.h"
#include "core/batch.h"

namespace outrider::rabbitmq {

// One burst on its way: published with a window of messages that are not confirmed yet, and the
// frames that come back. A queue may refuse one message (full, unroutable) and take the next: hence
// the chains.
class Flight {
public:
    struct Parts {
        Connection& connection;
        Writer& writer;
        const RabbitmqOptions& options;
        std::span<const Envelope> envelopes;
        std::span<Answer> answers;
        Deadline deadline;
        std::size_t& payload_bytes_max;  // 0: not known; learnt from the server's complaints
    };

    explicit Flight(Parts parts);

    // Publishes everything and collects the confirms. A message for which the server closes the
    // channel is found and answered, and the others are published again; where the server does not
    // say whose fault it is, one at a time, until the channel closes on the guilty one. An error
    // leaves the rest unanswered, and the connection must go.
    [[nodiscard]] Result<void> make();

private:
    enum class State : std::uint8_t {
        unsent,
        suspect,  // unsent again, since the channel was closed on it or on another: goes alone
        open,
        answered,
    };

    // What of a message that comes back has not been read yet.
    struct Return {
        std::string reason;
        std::optional<std::size_t> place;
        std::size_t body_left = 0;
    };

    [[nodiscard]] Result<void> publish_all();
    [[nodiscard]] Result<void> send(std::size_t place);
    [[nodiscard]] Result<void> send_alone(std::size_t place);
    [[nodiscard]] Result<bool> is_refused(std::size_t place, const std::string& exchange);
    [[nodiscard]] Result<void> drain(std::size_t open_max);
    [[nodiscard]] Result<void> take(const amqp_frame_t& frame);
    [[nodiscard]] Result<void> take_method(const amqp_method_t& method);
    [[nodiscard]] static Result<void> take_control(const amqp_method_t& method);
    [[nodiscard]] Result<void> take_returned_header(const amqp_frame_t& frame);
    void confirm(std::uint64_t tag, bool multiple, bool is_good);
    void close(std::size_t place, Answer answer);
    [[nodiscard]] bool is_full() const;
    [[nodiscard]] Result<void> start_again();
    [[nodiscard]] bool answer_culprits(Verdict verdict);
    [[nodiscard]] bool is_culprit(const Envelope& envelope, const Sizes& sizes);
    void take_back(State state);

    Parts parts_;
    wire::Chains chains_;
    std::vector<State> states_;
    std::vector<bool> returned_;       // its confirm means that it was not routed
    std::vector<std::size_t> places_;  // by delivery tag, from first_tag_ on
    std::uint64_t first_tag_ = 0;
    std::size_t lowest_ = 0;  // everything before it in places_ is answered
    std::size_t open_count_ = 0;
    std::size_t open_bytes_ = 0;
    std::optional<Return> return_;
    std::optional<Closure> closure_;
};

}  // namespace outrider::rabbitmq
