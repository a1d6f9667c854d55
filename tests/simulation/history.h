#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "outrider/destination.h"
#include "outrider/message.h"

namespace outrider::simulation {

// What goes wrong on purpose.
enum class FaultSort : std::uint8_t {
    crash,
    freeze,
    restart,  // orderly: no fault, so nothing may repeat
    store_outage,
    store_restart,
    claim_failed,
    claim_reply_lost,
    claim_lost,  // the server gave up the connection before the settle
    settle_failed,
    settle_reply_lost,
    settle_late,
    broker_outage,
    message_lost,
    acknowledgement_lost,
    late_publish,
    stall,
    refusal,
    unacceptable,
    clock_jump,
    ring_lost,
    pause,
    replay,
    count,
};

inline constexpr std::size_t kFaultSorts = static_cast<std::size_t>(FaultSort::count);

[[nodiscard]] std::string_view to_string(FaultSort sort);

// How often each of them struck.
using FaultTally = std::array<std::uint64_t, kFaultSorts>;

// What the checker is told of a destination: its rules, and the topics it takes by name.
struct Rules {
    std::string name;
    std::vector<std::string> takes;
    Order order = Order::key;
    OnFailure on_failure = OnFailure::block;
    AfterDeath after_death = AfterDeath::go_on;
    std::uint32_t attempts_max = 0;
    bool dies_of_age = false;
    std::size_t payload_bytes_max = 0;  // 0: none

    // Set where nothing is wrong with the destination itself: messages of keys without trouble of
    // their own arrive within this time of their commit.
    std::optional<Duration> lag_max;
};

// A producer's note of one message.
struct Written {
    MessageId id;
    std::string topic;
    std::string key;
    std::uint64_t digest = 0;    // of everything else that must arrive unchanged
    std::uint64_t position = 0;  // from a counter of topic and key, taken under the key's lock
    std::size_t payload_bytes = 0;
    std::optional<WallTime> deliver_after;
    std::uint64_t written = 0;    // when, in the count of the producers
    std::uint64_t committed = 0;  // 0: rolled back
    MonoTime committed_at{};
};

// A consumer's note: a message came out of a destination's broker.
struct Arrival {
    std::size_t destination = 0;
    MessageId id;
    std::string topic;
    std::string key;
    std::uint64_t digest = 0;
    WallTime wall;
    MonoTime at{};
};

// A broker's note: it would not take a message, or its answer never reached the relay.
struct Trouble {
    enum class Sort : std::uint8_t {
        refused,
        unacceptable,
        unanswered,
        unanswered_alone,  // nothing else was offered with it
    };
    std::size_t destination = 0;
    MessageId id;
    Sort sort = Sort::refused;
};

// An operator's note of one dead letter.
struct Death {
    std::size_t destination = 0;
    MessageId id;
    std::uint32_t attempts = 0;
    enum class Step : std::uint8_t { listed, replayed, discarded, remains } step = Step::listed;
};

// The fault injector's note: what may arrive once more, since it was accepted and then hit.
struct Incident {
    FaultSort sort = FaultSort::crash;
    std::size_t destination = 0;
    std::vector<MessageId> in_flight;
};

// All the evidence of a run. Nothing in it comes from the relay or from the store's tables, but for
// the dead letters, which an operator can list.
struct History {
    std::vector<Rules> destinations;
    std::vector<Written> written;
    std::vector<Arrival> arrivals;  // in the order of arrival
    std::vector<Trouble> troubles;
    std::vector<Death> deaths;
    std::vector<Incident> incidents;
    bool clock_jumped = false;
};

}  // namespace outrider::simulation
