#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "outrider/destination.h"
#include "outrider/envelope.h"
#include "outrider/error.h"
#include "outrider/settlement.h"
#include "outrider/time.h"
#include "outrider/verdict.h"

namespace outrider {

// The step of a turn in which something went wrong. `open` is that of the store, `connect` that of
// the broker.
enum class Stage : std::uint8_t { open, connect, claim, publish, settle, clean_up };

[[nodiscard]] std::string_view to_string(Stage stage);

// What a relay says about itself: why nothing is delivered, what was refused, how long a turn took.
// Metrics and logs hang here and nowhere else; a relay without an observer is silent.
//
//     class Faults : public outrider::Observer {
//         void faulted(const outrider::Destination& to, outrider::Stage, const outrider::Error&
//         error)
//             override { std::cerr << to.name << ": " << error.text << std::endl; }
//     };
//     outrider::Relay relay(store, {}, std::make_shared<Faults>());
//
// Called from the workers' threads, so it must be safe from any thread and quick, and must not
// throw. What is passed is there for the call only. All methods do nothing unless overridden.
class Observer {
public:
    virtual ~Observer() = default;

    virtual void claimed(
        const Destination&,
        std::span<const Envelope> /*envelopes*/,
        Duration /*took*/
    ) {}

    // One burst: `answers[i]` is for `envelopes[i]`.
    virtual void published(
        const Destination&,
        std::span<const Envelope> /*envelopes*/,
        std::span<const Answer> /*answers*/,
        Duration /*took*/
    ) {}

    // What the broker's client library counts, as one JSON object; where the broker's URL asks for
    // it.
    virtual void broker_statistics(const Destination&, std::string_view /*json*/) {}

    // What becomes of them: `settlements[i]` is for `envelopes[i]`, and has the reason of a
    // refusal. Before the settle, so that a log shows what was meant even if the settle fails.
    virtual void decided(
        const Destination&,
        std::span<const Envelope> /*envelopes*/,
        std::span<const Settlement> /*settlements*/
    ) {}

    virtual void settled(const Destination&, std::uint64_t /*messages*/, Duration /*took*/) {}

    // A step failed as a whole; it will be tried again. The same may come again and again.
    virtual void faulted(const Destination&, Stage, const Error&) {}
    virtual void circuit_changed(const Destination&, CircuitState, std::string_view /*reason*/) {}

    // Somebody else's relay has had all lanes for some seconds; this one stands by. False: it has
    // taken over.
    virtual void standing_by(const Destination&, bool) {}

    // The store does with less than it was asked to, and says why. Once, not at every turn.
    virtual void store_noted(std::string_view /*text*/) {}

    // Messages were removed for good; from PostgreSQL whole segments of them.
    virtual void cleaned_up(std::uint64_t /*removed*/) {}
    virtual void inbox_cleaned_up(std::uint64_t /*records*/) {}
    virtual void clean_up_failed(const Error&) {}
};

}  // namespace outrider
