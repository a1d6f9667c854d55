#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "outrider/observer.h"
#include "outrider/relay.h"

#include "core/clock.h"
#include "core/store.h"
#include "relay/circuit.h"

namespace outrider {

// Keeps house beside the workers: removes old messages, and what the inbox need not remember any
// longer, in small pieces, and notes in the store how each broker is. Drives nothing by itself; one
// thread at a time.
class Keeper {
public:
    Keeper(StoreDriver& store, const RelayOptions& options, Clock& clock, Observer& observer)
        : store_(store),
          options_(options),
          clock_(clock),
          observer_(observer) {}

    void watch(const Destination& destination, const Circuit& circuit) {
        watched_.push_back({&destination, &circuit, std::nullopt, {}});
    }

    // One round. Returns when the next one should be.
    MonoTime step();

    // The last round: notes how the brokers were when the relay stopped.
    void finish();

private:
    struct Watched {
        const Destination* destination;
        const Circuit* circuit;
        std::optional<CircuitState> noted;
        MonoTime note_again_at;
    };

    bool connect();
    void note_circuits();
    MonoTime clean_up();
    MonoTime fail_clean_up(const Error& error);
    void fail(const Error& error);

    StoreDriver& store_;
    const RelayOptions& options_;
    Clock& clock_;
    Observer& observer_;
    std::vector<Watched> watched_;
    std::unique_ptr<StoreAdmin> admin_;
    MonoTime clean_up_at_;
    bool has_said_away_ = false;
};

}  // namespace outrider
