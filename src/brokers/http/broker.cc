#include "brokers/http/broker.h"

#include <algorithm>

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

Error away(std::string why) {
    return {Remedy::wait, std::move(why)};
}

std::chrono::milliseconds longest(const HttpOptions& options) {
    return std::chrono::ceil<std::chrono::milliseconds>(options.timeout);
}

class HttpBroker final : public Broker {
public:
    HttpBroker(const HttpOptions& options, Writer writer)
        : options_(options),
          writer_(std::move(writer)),
          door_(writer_.has_many_places()),
          link_(options) {}

    // Requests travel side by side, and each is answered by itself.
    [[nodiscard]] BrokerTraits traits() const override { return {.keeps_order = false}; }

    void publish(std::span<const Envelope> envelopes, Deadline deadline, std::span<Answer> answers)
        override {
        Flight({link_, writer_, door_, options_, envelopes, answers, deadline}).make();
    }

    [[nodiscard]] Result<void> ping(Deadline deadline) override {
        Result<BrokerFacts> facts = describe(deadline);
        if (facts || may_try_) return {};
        return facts.error();
    }

    [[nodiscard]] Result<BrokerFacts> describe(Deadline deadline) override {
        Transfer* const transfer = link_.free_transfer();
        OUTRIDER_ASSERT(transfer != nullptr);
        const auto left = std::chrono::milliseconds(wire::millis_left(deadline));
        transfer->ask(writer_.base(), std::min(left, longest(options_)));
        link_.begin(*transfer);
        const CURLcode code = await(deadline);
        Result<BrokerFacts> facts = read(*transfer, code);
        note_contact(*transfer, code);
        link_.abort();
        return facts;
    }

private:
    CURLcode await(Deadline deadline) {
        while (wire::millis_left(deadline) > 0) {
            for (const Link::Done& done : link_.advance(deadline)) return done.code;
        }
        return CURLE_OPERATION_TIMEDOUT;
    }

    // A gateway with nobody behind it is no receiver.
    static Result<BrokerFacts> read(const Transfer& transfer, CURLcode code) {
        const long status = transfer.status(code);
        if (status != 0 && is_there(status)) return BrokerFacts{transfer.server(), kDurability};
        if (status != 0) return away("the receiver is away: it said " + std::to_string(status));
        const std::string failure = transfer.failure(code);
        if (!transfer.is_connected()) return away(failure);
        return away("connected, but there is no answer to OPTIONS: " + failure);
    }

    // Somebody who takes a connection and closes it over OPTIONS, or answers 503, may simply not
    // know it: a message shows, and costs nothing if it is turned away as well. Whoever is silent
    // may have stopped, and would find every message that was tried meanwhile when it goes on: only
    // each second silence lets one through.
    void note_contact(const Transfer& transfer, CURLcode code) {
        const bool is_cut = transfer.is_connected() && transfer.status(code) == 0;
        const bool is_silent = is_cut && code == CURLE_OPERATION_TIMEDOUT;
        may_try_ = transfer.is_connected() && (!is_silent || was_silent_);
        was_silent_ = is_silent && !was_silent_;
    }

    const HttpOptions options_;
    Writer writer_;
    Door door_;
    Link link_;
    bool may_try_ = false;     // although the last question had no answer
    bool was_silent_ = false;  // the receiver, when it was last asked, and nothing was tried
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
