#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "brokers/nats/classify.h"
#include "brokers/nats/connection.h"
#include "brokers/nats/renewals.h"
#include "brokers/nats/writer.h"
#include "brokers/wire/chains.h"
#include "core/batch.h"
#include "core/verdict.h"

namespace outrider::nats {

// One burst on its way: published with a window of messages that are not acknowledged yet, each of
// which asks for its acknowledgement at an address of its own. A stream may refuse one message and
// take the next: hence the chains.
class Flight {
public:
    struct Parts {
        Connection& connection;
        Writer& writer;
        const NatsOptions& options;
        Renewals& renewals;
        std::span<const Envelope> envelopes;
        std::span<Answer> answers;
        Deadline deadline;
        std::uint64_t number;  // of the burst, so that late replies of another are recognised
    };

    explicit Flight(Parts parts);

    // Publishes everything and collects the answers. An error leaves the rest unanswered; the
    // connection must then go, since replies may still be on their way.
    [[nodiscard]] Result<void> make();

    // The server has complained about a subject: the connection remembers that, and should go.
    [[nodiscard]] bool was_denied() const { return was_denied_; }

private:
    struct Place {
        bool is_open = false;        // published, and not answered yet
        bool is_looked_for = false;  // called a duplicate: JetStream is asked for what it has
        bool is_renewed = false;     // what it has is not this message: published without an id
    };

    [[nodiscard]] Result<void> publish_all();
    [[nodiscard]] Result<void> send(std::size_t place);
    [[nodiscard]] Result<void> drain(std::size_t waiting_max);
    [[nodiscard]] Result<void> flush();
    [[nodiscard]] Deadline patience(Duration wait) const;
    [[nodiscard]] Deadline silence_end() const;
    [[nodiscard]] std::size_t waiting() const { return open_count_ - nobody_; }
    [[nodiscard]] bool is_full() const;
    [[nodiscard]] bool deduplicates(std::size_t place) const;
    [[nodiscard]] Result<void> take(natsMsg& reply);
    [[nodiscard]] Result<void> take_ack(std::size_t place, Ack ack);
    [[nodiscard]] Result<void> look_for(std::size_t place, const Ack& ack);
    void take_stored(std::size_t place, std::string_view text);
    void leave(std::size_t place);
    void renew(std::size_t place);
    void close(std::size_t place, Answer answer);
    void heed_denial();
    void refuse_denied(const std::string& denial);
    [[nodiscard]] Result<void> explain_silence(const Error& silence);
    [[nodiscard]] Result<void> answer_unheard();
    [[nodiscard]] Result<void> answer_by_stream(std::size_t place);
    [[nodiscard]] Result<std::string> stream_of(const std::string& subject);

    Parts parts_;
    std::string address_;  // of this burst's replies
    std::vector<Place> places_;
    wire::Chains chains_;
    std::unordered_map<std::string, std::string> streams_;  // by subject, where they were asked for
    std::size_t open_count_ = 0;
    std::size_t open_bytes_ = 0;
    std::size_t nobody_ = 0;   // how many of the open ones have a subject that nobody listens to
    bool is_flushed_ = false;  // nothing was sent since the server has read everything
    bool owes_ = false;        // a stream takes a message, and does not acknowledge it
    bool was_denied_ = false;
};

}  // namespace outrider::nats
