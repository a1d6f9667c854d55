#include "brokers/nats/broker.h"

#include <optional>

#include "outrider/brokers.h"

#include "brokers/nats/connection.h"
#include "brokers/nats/facts.h"
#include "brokers/nats/flight.h"
#include "brokers/nats/streams.h"
#include "brokers/nats/subject.h"
#include "brokers/nats/writer.h"
#include "brokers/wire/answers.h"
#include "brokers/wire/driver.h"

namespace outrider {
namespace nats {
namespace {

class NatsBroker final : public Broker {
public:
    NatsBroker(const NatsOptions& options, wire::Target target)
        : options_(options),
          writer_(options, std::move(target)) {}

    // See Flight for why order holds.
    [[nodiscard]] BrokerTraits traits() const override {
        return {
            .keeps_order_keys = true,
            .drops_duplicates = options_.deduplicate,
            .payload_bytes_max = payload_bytes_max_};
    }

    void publish(std::span<const Envelope> envelopes, Deadline deadline, std::span<Answer> answers)
        override {
        if (envelopes.empty()) return;
        const Result<void> done = offer(envelopes, deadline, answers);
        if (!done) connection_.reset();
        wire::explain(answers, done ? "no answer before the deadline" : done.error().text);
    }

    [[nodiscard]] Result<void> ping(Deadline deadline) override {
        if (Result<void> ready = connect(deadline); !ready) return ready;
        Result<void> answer = ask_for_account(deadline);
        if (!answer) connection_.reset();
        return answer;
    }

    [[nodiscard]] Result<BrokerFacts> describe(Deadline deadline) override {
        if (Result<void> there = ping(deadline); !there) return there.error();
        const Result<std::string> greeting = Connection::greeting(options_, deadline);
        if (!greeting) return greeting.error();
        BrokerFacts facts{.server = server_of(*greeting)};
        if (Result<void> told = ask_for_stream(facts, deadline); !told) return told.error();
        return facts;
    }

private:
    Result<void> connect(Deadline deadline) {
        if (connection_ && !connection_->is_closed()) return {};
        connection_.reset();
        Result<Connection> opened = Connection::open(options_, deadline);
        if (!opened) return opened.error();
        connection_.emplace(std::move(opened).value());
        payload_bytes_max_ = connection_->message_bytes_max();
        return {};
    }

    // NATS without JetStream takes messages and keeps none. Who may not ask, learns it when the
    // first message is not acknowledged.
    Result<void> ask_for_account(Deadline deadline) {
        const Result<std::string> account = connection_->ask(kAccountQuestion, "", deadline);
        if (account) return read_account(*account);
        if (account.error().native_code != NATS_NOT_PERMITTED) return account.error();
        return connection_->flush(deadline);
    }

    Result<void> ask_for_stream(BrokerFacts& facts, Deadline deadline) {
        if (options_.stream.empty()) {
            facts.durability =
                "stored by the stream that takes the subject; which one, and how safely, is not "
                "known without ?stream=";
            return {};
        }
        const Result<std::string> info =
            connection_->ask("STREAM.INFO." + options_.stream, "", deadline);
        if (!info && info.error().native_code != NATS_NOT_PERMITTED) return info.error();
        if (info) {
            facts.durability = durability_of(*info, options_.stream);
            facts.risk = risk_of(*info, options_.stream);
        } else {
            facts.durability = "stored by stream " + options_.stream +
                               "; how safely is not known: " + info.error().text;
        }
        return {};
    }

    Result<void> offer(
        std::span<const Envelope> envelopes,
        Deadline deadline,
        std::span<Answer> answers
    ) {
        if (Result<void> ready = connect(deadline); !ready) return ready;
        Flight flight(
            {*connection_,
             writer_,
             options_,
             renewals_,
             envelopes,
             answers,
             deadline,
             ++bursts_count_}
        );
        Result<void> made = flight.make();
        if (flight.was_denied()) connection_.reset();
        return made;
    }

    const NatsOptions options_;
    Writer writer_;
    Renewals renewals_;
    std::optional<Connection> connection_;
    std::size_t payload_bytes_max_ = 0;
    std::uint64_t bursts_count_ = 0;
};

Result<std::unique_ptr<Broker>> open(const NatsOptions& options) {
    Result<wire::Target> target = parse_target(options.wire.target);
    if (!target) return target.error();
    return std::unique_ptr<Broker>(std::make_unique<NatsBroker>(options, std::move(target).value())
    );
}

}  // namespace
}  // namespace nats

std::shared_ptr<BrokerDriver> make_nats_broker(const NatsOptions& options) {
    return wire::make_driver([options] { return nats::open(options); });
}

std::shared_ptr<BrokerDriver> nats_broker(std::string_view url) {
    return wire::driver_of<parse_nats_url, make_nats_broker>(url);
}

}  // namespace outrider
