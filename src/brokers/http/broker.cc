#include "brokers/http/broker.h"

#include "outrider/brokers.h"

#include "brokers/http/classify.h"
#include "brokers/http/flight.h"
#include "brokers/wire/driver.h"
#include "brokers/wire/socket.h"

namespace outrider {
namespace http {
namespace {

constexpr const char* kDurability =
    "the receiver has answered 2xx; what it had done by then is its own affair";

class HttpBroker final : public Broker {
public:
    HttpBroker(const HttpOptions& options, Writer writer)
        : options_(options),
          writer_(std::move(writer)),
          link_(options) {}

    // Requests travel side by side, and each is answered by itself.
    [[nodiscard]] BrokerTraits traits() const override { return {.keeps_order = false}; }

    void publish(std::span<const Envelope> envelopes, Deadline deadline, std::span<Answer> answers)
        override {
        Flight({link_, writer_, options_, envelopes, answers, deadline}).make();
    }

    [[nodiscard]] Result<void> ping(Deadline deadline) override {
        const Result<BrokerFacts> facts = describe(deadline);
        if (!facts) return facts.error();
        return {};
    }

    [[nodiscard]] Result<BrokerFacts> describe(Deadline deadline) override {
        Transfer* const transfer = link_.free_transfer();
        OUTRIDER_ASSERT(transfer != nullptr);
        transfer->ask(writer_.base(), std::chrono::milliseconds(wire::millis_left(deadline)));
        link_.begin(*transfer);
        Result<BrokerFacts> answer = await(deadline);
        link_.abort();
        return answer;
    }

private:
    // Any answer will do, but for that of a gateway with nobody behind it.
    Result<BrokerFacts> await(Deadline deadline) {
        while (wire::millis_left(deadline) > 0) {
            for (const Link::Done& done : link_.advance(deadline)) {
                const long status = done.transfer->status(done.code);
                if (status == 0) return Error{Remedy::wait, done.transfer->failure(done.code)};
                if (is_there(status)) return BrokerFacts{done.transfer->server(), kDurability};
                return Error{
                    Remedy::wait, "the receiver is away: it said " + std::to_string(status)};
            }
        }
        return Error{Remedy::wait, "no answer before the deadline"};
    }

    const HttpOptions options_;
    Writer writer_;
    Link link_;
};

Result<std::unique_ptr<Broker>> open(const HttpOptions& options) {
    Result<Place> place = Place::parse(options);
    if (!place) return place.error();
    Result<Signer> signer = Signer::parse(options.secret);
    if (!signer) return signer.error();
    return std::unique_ptr<Broker>(std::make_unique<HttpBroker>(
        options, Writer(options, std::move(place).value(), std::move(signer).value())
    ));
}

}  // namespace
}  // namespace http

std::shared_ptr<BrokerDriver> make_http_broker(const HttpOptions& options) {
    return wire::make_driver([options] { return http::open(options); });
}

std::shared_ptr<BrokerDriver> http_broker(std::string_view url) {
    return wire::driver_of<parse_http_url, make_http_broker>(url);
}

}  // namespace outrider
