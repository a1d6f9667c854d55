#include "brokers/rabbitmq/broker.h"

#include "outrider/brokers.h"

#include "brokers/rabbitmq/connection.h"
#include "brokers/rabbitmq/flight.h"
#include "brokers/rabbitmq/route.h"
#include "brokers/rabbitmq/watchdog.h"
#include "brokers/rabbitmq/writer.h"
#include "brokers/wire/answers.h"
#include "brokers/wire/driver.h"

namespace outrider {
namespace rabbitmq {
namespace {

class RabbitmqBroker final : public Broker {
public:
    RabbitmqBroker(const RabbitmqOptions& options, Route route)
        : options_(options),
          writer_(options, std::move(route)) {}

    // See Flight for why order holds.
    [[nodiscard]] BrokerTraits traits() const override {
        return {.keeps_order_keys = true, .payload_bytes_max = payload_bytes_max_};
    }

    void publish(std::span<const Envelope> envelopes, Deadline deadline, std::span<Answer> answers)
        override {
        if (envelopes.empty()) return;
        const Result<void> done = offer(envelopes, deadline, answers);
        if (done) return wire::explain(answers, wire::kBehind);
        connection_.reset();
        for (Answer& answer : answers) {
            // A returned message whose confirm never came has a reason that is no longer true.
            if (answer.verdict == Verdict::unanswered) answer.reason = done.error().text;
        }
    }

    [[nodiscard]] Result<void> ping(Deadline deadline) override {
        if (Result<void> ready = connect(deadline); !ready) return ready;
        const Watchdog::Shift shift(watchdog_, connection_->socket(), deadline);
        Result<void> answer = connection_->ask(deadline);
        if (!answer) lose_connection_ = true;
        return answer;
    }

    [[nodiscard]] Result<BrokerFacts> describe(Deadline deadline) override {
        if (Result<void> there = ping(deadline); !there) return there.error();
        return BrokerFacts{
            connection_->server(),
            "in every queue that takes it: on disk where the queue is durable, on the disks of a "
            "majority where it is a quorum queue"};
    }

private:
    Result<void> connect(Deadline deadline) {
        if (connection_ && !lose_connection_ && !connection_->is_stale()) return {};
        connection_.reset();
        lose_connection_ = false;
        Result<std::unique_ptr<Connection>> opened = Connection::open(options_, deadline);
        if (!opened) return opened.error();
        connection_ = std::move(opened).value();
        return {};
    }

    Result<void> offer(
        std::span<const Envelope> envelopes,
        Deadline deadline,
        std::span<Answer> answers
    ) {
        if (Result<void> ready = connect(deadline); !ready) return ready;
        const Watchdog::Shift shift(watchdog_, connection_->socket(), deadline);
        return Flight({*connection_,
                       writer_,
                       options_,
                       envelopes,
                       answers,
                       deadline,
                       payload_bytes_max_})
            .make();
    }

    const RabbitmqOptions options_;
    Writer writer_;
    Watchdog watchdog_;
    std::unique_ptr<Connection> connection_;
    bool lose_connection_ = false;  // a failed ping: while it is watched it must not be closed
    std::size_t payload_bytes_max_ = 0;
};

Result<std::unique_ptr<Broker>> open(const RabbitmqOptions& options) {
    Result<Route> route = Route::parse(options);
    if (!route) return route.error();
    return std::unique_ptr<Broker>(
        std::make_unique<RabbitmqBroker>(options, std::move(route).value())
    );
}

}  // namespace
}  // namespace rabbitmq

std::shared_ptr<BrokerDriver> make_rabbitmq_broker(const RabbitmqOptions& options) {
    return wire::make_driver([options] { return rabbitmq::open(options); });
}

std::shared_ptr<BrokerDriver> rabbitmq_broker(std::string_view url) {
    return wire::driver_of<parse_rabbitmq_url, make_rabbitmq_broker>(url);
}

}  // namespace outrider
