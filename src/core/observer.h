#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/broker.h"
#include "core/store.h"
#include "core/store_admin.h"

namespace outrider {

// The step of a turn in which something went wrong.
enum class Stage : std::uint8_t { open, claim, publish, settle, clean_up };

[[nodiscard]] std::string_view to_string(Stage stage);

// What the loop says about itself. Metrics and logs hang here and nowhere else. Called from the
// workers' threads, so an observer must be safe from any thread and quick. All methods do nothing
// unless overridden.
class Observer {
public:
    virtual ~Observer() = default;

    virtual void claimed(const Destination&, const Batch&, Duration /*took*/) {}

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

    // Before the settle, so that a log shows what was meant even if the settle fails.
    virtual void decided(const Destination&, const Batch&, std::span<const Settlement>) {}

    virtual void settled(const Destination&, std::uint64_t /*messages*/, Duration /*took*/) {}
    virtual void faulted(const Destination&, Stage, const Error&) {}
    virtual void circuit_changed(const Destination&, CircuitState, std::string_view /*reason*/) {}

    // Somebody else's relay has all lanes; this one stands by. False: it has taken over.
    virtual void standing_by(const Destination&, bool) {}

    // The store does with less than it was asked to, and says why. Once, not at every turn.
    virtual void store_noted(std::string_view /*text*/) {}

    virtual void cleaned_up(std::uint64_t /*messages*/) {}
    virtual void inbox_cleaned_up(std::uint64_t /*records*/) {}
    virtual void clean_up_failed(const Error&) {}
};

}  // namespace outrider
