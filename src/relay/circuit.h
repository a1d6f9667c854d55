#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "outrider/destination.h"

#include "core/dice.h"
#include "core/store_admin.h"

namespace outrider {

// Whether a destination's broker is left alone for a while. Closed: messages flow. Open: the broker
// did not answer, nobody calls before a certain moment. Half-open: that moment has come, and one
// worker tries. Shared by the workers of a destination; safe from any thread; knows no clock of its
// own.
class Circuit {
public:
    explicit Circuit(const Destination& destination)
        : delay_first_(destination.outage_delay_first),
          delay_max_(destination.outage_delay_max) {}

    enum class Permit : std::uint8_t {
        go,     // closed
        probe,  // half-open, and it is the caller who tries: it must report success() or failure()
        wait,   // not before retry_at()
    };
    [[nodiscard]] Permit ask(MonoTime now);

    // The broker answered, or there was nothing to ask it. True: the circuit has closed with this.
    bool success();

    // The broker did not answer. True: the circuit was closed before.
    bool failure(MonoTime now, std::string_view reason, Dice& dice);

    // Whether anybody has reported anything yet.
    [[nodiscard]] bool is_tried() const;
    [[nodiscard]] MonoTime retry_at() const;
    [[nodiscard]] CircuitState state() const;
    [[nodiscard]] std::string reason() const;

private:
    const Duration delay_first_;
    const Duration delay_max_;
    mutable std::mutex mutex_;
    CircuitState state_ = CircuitState::closed;
    bool tried_ = false;
    Duration delay_ = Duration::zero();
    MonoTime retry_at_;
    std::string reason_;
};

}  // namespace outrider
