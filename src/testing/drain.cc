#include "outrider/error.h"
#include "outrider/testing.h"

#include "core/clock.h"
#include "relay/turn.h"

namespace outrider::testing {
namespace {

// A store may need a look to open its next window, and another to find it empty.
constexpr int kQuietLooks = 3;

[[noreturn]] void fail(const TurnReport& report) {
    using Turn = TurnReport::Outcome;
    switch (report.outcome) {
        case Turn::held:
            throw Failure({Remedy::yield, "a relay is at work on this destination: stop it first"});
        case Turn::paused:
            throw Failure({Remedy::correct, "the destination is paused"});
        case Turn::unanswered:
            throw Failure({Remedy::wait, "the broker did not answer: " + report.error.text});
        default:
            throw Failure(report.error);
    }
}

// Whether something was settled.
bool turn(Store& store, Broker& broker, const Destination& destination) {
    SystemClock clock;
    SeededDice dice(random_seed());
    Observer observer;
    const TurnReport report = make_turn(
        store,
        broker,
        {.destination = destination,
         .limits = destination.batch,
         .clock = clock,
         .dice = dice,
         .observer = observer,
         .stop = {}}
    );
    if (report.outcome == TurnReport::Outcome::moved) return true;
    if (report.outcome == TurnReport::Outcome::idle) return false;
    fail(report);
}

}  // namespace

void drain(
    const std::shared_ptr<StoreDriver>& store,
    const std::shared_ptr<BrokerDriver>& broker,
    const Destination& destination
) {
    validate(destination);
    Result<std::unique_ptr<Store>> opened = store->open(destination);
    if (!opened) throw Failure(opened.error());
    Result<std::unique_ptr<Broker>> reached = broker->open();
    if (!reached) throw Failure(reached.error());
    for (int quiet = 0; quiet < kQuietLooks;) {
        quiet = turn(**opened, **reached, destination) ? 0 : quiet + 1;
    }
}

}  // namespace outrider::testing
