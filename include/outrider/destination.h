#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "outrider/time.h"

namespace outrider {

// What is kept in order on the way to a destination.
enum class Order : std::uint8_t {
    key,     // messages of one topic and key (default)
    none,    // nothing: the fastest, for destinations that do not care
    global,  // everything: one message behind the other, whatever its key
};

// Where a destination begins when the store meets its name for the first time.
enum class Start : std::uint8_t {
    oldest,  // at the oldest message that is still kept (default)
    now,     // behind the newest one
};

// What the rest of a key does while one of its messages waits for another try.
enum class OnFailure : std::uint8_t {
    block,  // waits behind it (default)
    skip,   // passes it; the order of that key is given up
};

// What the rest of a key does once one of its messages is dead.
enum class AfterDeath : std::uint8_t {
    go_on,  // goes on (default); written "continue" in the configuration
    hold,   // waits until an operator has replayed or discarded the dead letter
};

[[nodiscard]] std::string_view to_string(Order order);
[[nodiscard]] std::string_view to_string(Start start);
[[nodiscard]] std::string_view to_string(OnFailure rule);
[[nodiscard]] std::string_view to_string(AfterDeath rule);

// How a message that was itself refused is tried again. An outage of the broker costs nobody a try.
struct Retry {
    // A message dies when it was refused this often. 0: never by count. Default 20, about nine
    // hours with the delays below.
    std::uint32_t attempts_max = 20;

    // A message dies when its first refusal is this long ago. 0: never by age (default).
    Duration age_max = Duration::zero();

    // The wait before the second try; each further wait is twice as long, up to `delay_max`.
    Duration delay_first = std::chrono::seconds(1);
    Duration delay_max = std::chrono::hours(1);

    // Each wait is stretched or shortened by up to this part of itself, so that messages refused
    // together do not come back together. 0 to 1. Default 0.2.
    double jitter = 0.2;
};

// How large a turn may grow. The first two bound the memory of a relay: workers times `bytes`.
struct BatchLimits {
    // The most messages of one turn. Turns start small and double while there is a backlog. Default
    // 10,000.
    std::size_t messages = 10'000;

    // The most bytes of messages in one turn; a single message may be larger. Default 8 MiB.
    std::size_t bytes = 8U << 20U;
};

// A named place where messages go: which topics it takes, and by which rules. The name is what the
// store remembers its progress by, so choose it once.
struct Destination {
    // 1 to 63 characters: letters, digits, '-', '_', '.', ':' and '*'.
    std::string name;

    // The topics it takes; `*` in a pattern matches anything, dots included. Default: all of them.
    std::vector<std::string> topics = {"*"};

    // What is kept in order. Default key. Take none for throughput where consumers sort for
    // themselves, global only where everything must come one behind the other: it is slow.
    Order order = Order::key;

    // Where it begins when its name is new. Default oldest: what was written before it was added
    // is delivered, too, as far as it is kept. Take now where history would be news to nobody.
    Start start = Start::oldest;

    // Default block. Take skip where a late message is better than a waiting key.
    OnFailure on_failure = OnFailure::block;

    // Default go_on. Take hold where a message makes no sense without the one before it, and
    // somebody looks at dead letters.
    AfterDeath after_death = AfterDeath::go_on;

    // How a refused message is tried again, and when it is given up.
    Retry retry;

    // How much one turn takes.
    BatchLimits batch;

    // How long a broker may take to answer for a whole turn. What is unanswered then is offered
    // again later, so a value below the broker's own worst case causes repeats. Default 30 s.
    Duration publish_deadline = std::chrono::seconds(30);

    // How long the destination is left alone after the broker did not answer; doubled with each
    // failure up to `outage_delay_max`. Defaults 250 ms and 30 s.
    Duration outage_delay_first = std::chrono::milliseconds(250);
    Duration outage_delay_max = std::chrono::seconds(30);

    // How many workers make turns for it, each with its own connections. More than one helps only
    // on stores with several lanes. Default 1.
    std::size_t workers = 1;

    // Payloads larger than this are dead letters at once. 0: whatever the broker takes (default).
    std::size_t payload_bytes_max = 0;
};

// Throws Failure (correct) that names the field, unless the destination makes sense.
void validate(const Destination& destination);

// Whether messages flow to a destination, as its relay last said.
enum class CircuitState : std::uint8_t { closed, open, half_open };

[[nodiscard]] std::string_view to_string(CircuitState state);

}  // namespace outrider
