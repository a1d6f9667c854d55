#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "outrider/destination.h"
#include "outrider/relay.h"

#include "core/broker.h"
#include "core/dice.h"
#include "simulation/history.h"

namespace outrider::simulation {

// How often something goes wrong in a call, as probabilities, and which larger faults may strike.
// All zero in a run without faults.
struct FaultRates {
    double claim_failed = 0;
    double claim_reply_lost = 0;
    double settle_failed = 0;
    double settle_reply_lost = 0;
    double settle_late = 0;
    double message_lost = 0;
    double acknowledgement_lost = 0;
    double late_publish = 0;
    double stall = 0;
    double ring_lost = 0;
    std::vector<FaultSort> strikes;  // by the fault injector, one after the other
    Duration strike_pause = std::chrono::seconds(1);
};

// A destination with its broker.
struct Place {
    Destination destination;
    std::vector<std::string> takes;  // the topics that its patterns match
    BrokerTraits traits;
    Duration latency_max = std::chrono::milliseconds(1);
    double poison = 0;          // part of the messages that are refused a few times
    double incurable = 0;       // part of the messages that are refused for ever
    double unacceptable = 0;    // part of the messages that are unacceptable
    bool refuses_rest = false;  // of a key behind a refusal; else the rest stays unanswered
};

// Everything that a seed decides before the run begins.
struct Scenario {
    std::uint64_t seed = 0;
    std::size_t relays = 1;
    std::size_t lanes = 1;
    std::size_t lanes_per_claim = 0;
    RelayOptions options;
    std::vector<Place> places;
    FaultRates faults;
    bool judges_isolation = false;  // nothing goes wrong but messages, and the first place's broker
    Duration store_latency_max = std::chrono::milliseconds(1);

    std::size_t producers = 1;
    std::size_t transactions = 1;  // of each producer
    std::size_t messages_max = 1;  // of a transaction
    std::size_t keys = 1;
    double keyless = 0;
    double rolled_back = 0;
    double deferred = 0;  // part of the messages with a time before which they must not go
    std::size_t payload_bytes_max = 0;
    Duration write_pause = std::chrono::milliseconds(1);

    // The server gives up a silent connection after this time, longer than any publish deadline.
    Duration patience = std::chrono::seconds(1);
};

inline constexpr const char* kTopics[] = {"orders.new", "orders.paid", "bills"};

[[nodiscard]] Scenario draw_scenario(std::uint64_t seed);

// What the checker needs to know of a place.
[[nodiscard]] Rules rules_of(const Place& place);

}  // namespace outrider::simulation
