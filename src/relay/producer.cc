#include "outrider/producer.h"

#include <condition_variable>
#include <mutex>
#include <unordered_map>

#include "outrider/error.h"

#include "core/clock.h"
#include "core/dice.h"
#include "core/hash.h"
#include "relay/turn.h"

// A producer makes one turn over its messages: order per key, waves, limits and the deadline are
// those of the relay, since they are the same code.

namespace outrider {
namespace {

constexpr std::string_view kNotSent =
    "not sent: a message before it was not taken, or the time was over";

// The messages of one call, as a store that is claimed from once and remembers what was settled.
class Parcel final : public Store {
public:
    explicit Parcel(std::span<const Message> messages) {
        sent_.resize(messages.size());
        headers_.resize(messages.size());
        for (std::size_t i = 0; i < messages.size(); ++i) add(messages[i], i);
    }

    [[nodiscard]] Result<Batch> claim(const BatchLimits& /*limits*/) override {
        Batch batch;
        batch.envelopes = envelopes_;
        batch.now = WallTime{};
        return batch;
    }

    // What no broker could take was settled without being offered.
    [[nodiscard]] Result<void> settle(Batch batch, std::span<const Settlement> settlements)
        override {
        for (std::size_t i = 0; i < settlements.size(); ++i) {
            Answer& answer = sent_[static_cast<std::size_t>(batch.envelopes[i].seq)].answer;
            if (settlements[i].fate == Fate::dead && answer.verdict == Verdict::unanswered) {
                answer = {Verdict::unacceptable, settlements[i].reason};
            }
        }
        return {};
    }

    void take(std::span<const Envelope> envelopes, std::span<const Answer> answers) {
        for (std::size_t i = 0; i < envelopes.size(); ++i) {
            sent_[static_cast<std::size_t>(envelopes[i].seq)].answer = answers[i];
        }
    }

    [[nodiscard]] std::vector<Sent> results() && { return std::move(sent_); }

private:
    void add(const Message& message, std::size_t place) {
        Sent& sent = sent_[place];
        sent.id = message.id ? *message.id : MessageId::generate();
        sent.answer.reason = kNotSent;
        for (const Header& header : message.headers) {
            headers_[place].push_back({header.name, header.value});
        }
        Envelope& envelope = envelopes_.emplace_back();
        envelope.id = sent.id;
        envelope.topic = message.topic;
        envelope.key = message.key;
        envelope.type = message.type;
        envelope.content_type = message.content_type;
        envelope.payload = message.payload;
        envelope.headers = headers_[place];
        envelope.occurred_at = message.occurred_at.value_or(SystemClock().wall());
        envelope.seq = static_cast<std::int64_t>(place);
        envelope.order_key = order_key(Order::key, message.topic, message.key, envelope.seq);
    }

    std::vector<Envelope> envelopes_;
    std::vector<std::vector<HeaderView>> headers_;
    std::vector<Sent> sent_;
};

// Hands the broker's own words to the parcel; a settlement would only tell what follows from them.
class Listener final : public Observer {
public:
    explicit Listener(Parcel& parcel) : parcel_(parcel) {}

    void published(
        const Destination& /*destination*/,
        std::span<const Envelope> envelopes,
        std::span<const Answer> answers,
        Duration /*took*/
    ) override {
        parcel_.take(envelopes, answers);
    }

private:
    Parcel& parcel_;
};

void check(const Message& message, const EnqueueOptions& limits) {
    validate(message, limits);
    if (!message.deliver_after) return;
    throw Failure(
        {Remedy::correct,
         "deliver_after needs an outbox to wait in: enqueue the message, or send it later"}
    );
}

}  // namespace

class Producer::Desk {
public:
    Desk(std::shared_ptr<BrokerDriver> driver, const ProducerOptions& options)
        : driver_(std::move(driver)),
          options_(options),
          dice_(random_seed()) {
        destination_.name = "producer";
        destination_.publish_deadline = options.publish_deadline;
        validate(destination_);
        Result<std::unique_ptr<Broker>> broker = driver_->open();
        if (!broker) throw Failure(broker.error());
        broker_ = std::move(broker).value();
    }

    std::vector<Sent> send(std::span<const Message> messages) {
        for (const Message& message : messages) check(message, options_.limits);
        Parcel parcel(messages);
        const Deadline deadline = clock_.now() + options_.publish_deadline;
        if (const Place place(*this, deadline); place) offer(parcel, deadline - clock_.now());
        return std::move(parcel).results();
    }

private:
    // At the desk, alone; or not in time.
    class Place {
    public:
        Place(Desk& desk, Deadline deadline) : desk_(desk) {
            std::unique_lock lock(desk_.mutex_);
            taken_ = desk_.left_.wait_until(lock, deadline, [&desk] { return !desk.busy_; });
            if (taken_) desk_.busy_ = true;
        }
        ~Place() {
            if (!taken_) return;
            const std::lock_guard lock(desk_.mutex_);
            desk_.busy_ = false;
            desk_.left_.notify_one();
        }
        Place(const Place&) = delete;
        Place& operator=(const Place&) = delete;
        explicit operator bool() const { return taken_; }

    private:
        Desk& desk_;
        bool taken_ = false;
    };

    void offer(Parcel& parcel, Duration left) {
        destination_.publish_deadline = left;
        Listener listener(parcel);
        [[maybe_unused]] const TurnReport report = make_turn(
            parcel,
            *broker_,
            {.destination = destination_,
             .limits = {},
             .clock = clock_,
             .dice = dice_,
             .observer = listener,
             .stop = {}}
        );
    }

    const std::shared_ptr<BrokerDriver> driver_;
    const ProducerOptions options_;
    Destination destination_;  // of whoever is at the desk
    SystemClock clock_;
    SeededDice dice_;
    std::unique_ptr<Broker> broker_;

    // Not a std::timed_mutex: the thread sanitizer of GCC 12 does not see it being locked.
    std::mutex mutex_;
    std::condition_variable left_;
    bool busy_ = false;
};

Producer::Producer(std::shared_ptr<BrokerDriver> broker, const ProducerOptions& options)
    : desk_(std::make_unique<Desk>(std::move(broker), options)) {
}

Producer::~Producer() = default;

Sent Producer::send(const Message& message) {
    return std::move(desk_->send(std::span(&message, 1)).front());
}

std::vector<Sent> Producer::send(std::span<const Message> messages) {
    return desk_->send(messages);
}

}  // namespace outrider
