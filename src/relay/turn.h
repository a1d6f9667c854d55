#pragma once

#include <optional>
#include <stop_token>

#include "outrider/observer.h"

#include "core/broker.h"
#include "core/clock.h"
#include "core/store.h"
#include "relay/caution.h"
#include "relay/handled.h"
#include "relay/lone_failures.h"

namespace outrider {

// What a turn needs besides its store and broker. Everything outlives the turn.
struct TurnContext {
    const Destination& destination;
    BatchLimits limits;  // of this turn, at most those of the destination
    Clock& clock;
    Dice& dice;
    Observer& observer;
    std::stop_token stop;          // asked for: no further wave; what is known is settled
    Caution* caution = nullptr;    // for a broker that runs in this process
    Handled* handled = nullptr;    // the same, and never without the other
    LoneFailures* lone = nullptr;  // in a turn of one message, after the broker answered a ping
};

struct TurnReport {
    enum class Outcome : std::uint8_t {
        moved,         // something was settled
        idle,          // nothing is due
        held,          // the lanes are in other hands
        paused,        // the operator has paused the destination
        unanswered,    // the broker did not answer for everything; what is known was settled
        store_failed,  // the claim or the settle failed: `error` says how
    };
    Outcome outcome = Outcome::idle;
    bool answered = false;             // the broker said something about at least one message
    bool full = false;                 // more is waiting
    std::size_t messages = 0;          // that were claimed
    std::int64_t written = 0;          // to the store, ever; 0: it does not say
    Duration store_time{};             // of the claim and the settle
    std::optional<Duration> next_due;  // from now, when a parked message falls due
    Error error;                       // of the store; of the broker its text
};

// One claim, publish, decide, settle. Starts no thread and never sleeps: a test, a simulation or a
// worker decides when to turn again. The broker's memory of the turn ends with it.
[[nodiscard]] TurnReport make_turn(Store& store, Broker& broker, const TurnContext& context);

}  // namespace outrider
