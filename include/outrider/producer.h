#pragma once

#include <memory>
#include <span>
#include <vector>

#include "outrider/brokers.h"
#include "outrider/message.h"
#include "outrider/verdict.h"

namespace outrider {

// How a producer behaves.
struct ProducerOptions {
    // How long a call waits for the broker and for calls of other threads before it, whatever the
    // number of messages. What has no answer then is unanswered. Default 30 s.
    Duration publish_deadline = std::chrono::seconds(30);

    // The largest payload accepted, as for enqueue (message.h). Raise it only with the broker's
    // own.
    EnqueueOptions limits;
};

// One message, as it was sent. Converts to whether the broker has it.
struct Sent {
    MessageId id;  // the message's own, or the new one it was given
    Answer answer;

    explicit operator bool() const { return answer.verdict == Verdict::acknowledged; }
};

// The way past the outbox, for topics that need none: measurements, cache hints, anything whose
// loss in a crash or an outage costs nobody anything. Messages go straight to the broker, with the
// same type, the same headers on the wire and the same order per key as a relay's.
//
//     outrider::Producer producer(outrider::nats_broker("nats://127.0.0.1"));
//     if (!producer.send({.topic = "temperature", .key = "hall", .payload = "21"})) count_loss();
//
// What it does not do: take part in a transaction, keep what the broker did not take, or try again.
// Where any of that matters, enqueue. Safe from any thread; calls come one after the other.
class Producer {
public:
    // Throws Failure if the broker's settings make no sense. The broker need not be there yet.
    explicit Producer(std::shared_ptr<BrokerDriver> broker, const ProducerOptions& options = {});
    ~Producer();
    Producer(const Producer&) = delete;
    Producer& operator=(const Producer&) = delete;

    // Sends the message and waits for what the broker says of it. An unanswered message may be
    // there or not; whoever sends it again gives it the id it had, so that consumers can recognise
    // the repeat. Throws Failure (correct), having sent nothing, if the message breaks a limit or
    // asks for something that only an outbox can do (deliver_after).
    Sent send(const Message& message);

    // The same for many, in their order; the result has their order, too. Behind a message that was
    // not taken nothing more of its key is sent: that is unanswered, with the reason, and
    // certainly not there.
    std::vector<Sent> send(std::span<const Message> messages);

private:
    class Desk;
    std::unique_ptr<Desk> desk_;
};

}  // namespace outrider
