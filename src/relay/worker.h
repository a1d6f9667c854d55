#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>

#include "outrider/observer.h"
#include "outrider/relay.h"

#include "core/broker.h"
#include "core/clock.h"
#include "core/store.h"
#include "relay/circuit.h"
#include "relay/pace.h"
#include "relay/turn.h"

namespace outrider {

// What a worker works with. Everything outlives it.
struct WorkerParts {
    const Destination& destination;
    const RelayOptions& options;
    StoreDriver& store;
    BrokerDriver& broker;
    Circuit& circuit;  // shared by the destination's workers
    Caution& caution;  // the same
    Handled& handled;  // the same
    Clock& clock;
    Dice& dice;  // its own
    Observer& observer;
    Waker& waker;  // its own
};

// Makes turns for one destination, with connections of its own: back to back while there is work,
// else asleep on its waker. run() is for one thread; is_idle() for any.
class Worker {
public:
    explicit Worker(WorkerParts parts);

    // Until stop is requested; ring the waker with it.
    void run(const std::stop_token& stop);

    // The last turn found nothing to do.
    [[nodiscard]] bool is_idle() const { return idle_; }

private:
    // One pass. Returns the moment of the next one, unless woken.
    MonoTime step(const std::stop_token& stop);
    bool connect();
    bool open_broker();
    bool open_store();
    [[nodiscard]] TurnContext context(const std::stop_token& stop, Circuit::Permit permit);
    bool broker_answers();
    bool store_can_be_written();
    MonoTime schedule(const TurnReport& report);
    MonoTime after_fault(const TurnReport& report);
    MonoTime after_nothing(const TurnReport& report);
    MonoTime back_off();
    void close_circuit();
    void open_circuit(std::string_view reason);
    [[nodiscard]] bool has_only_silent(const TurnReport& report) const;
    void stand_by(bool held);

    WorkerParts parts_;
    Pace pace_;
    LoneFailures lone_;
    std::unique_ptr<Store> store_;
    std::unique_ptr<Broker> broker_;
    Duration reconnect_delay_ = Duration::zero();
    MonoTime reconnect_at_;
    bool standing_by_ = false;
    std::optional<MonoTime> held_since_;  // since when others have had all there is
    bool probing_ = false;                // the turn was that of a half-open circuit
    bool unsettled_ = false;  // messages were published, and nothing could be written about them
    std::atomic<bool> idle_ = false;
};

}  // namespace outrider
