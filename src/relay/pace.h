#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "outrider/destination.h"
#include "outrider/time.h"

namespace outrider {

// How many messages the next turn may take: few at first, for latency; twice as many while claims
// come back full, since the fixed cost of a turn is spread over them; one after the broker went
// silent, so that a message that breaks the link is alone when it does. And how long to rest after
// a turn that took all there was: messages that come one by one are cheaper in company. A value; no
// thread, no clock.
class Pace {
public:
    // One that has moved something.
    struct Turn {
        std::size_t messages = 0;
        bool full = false;         // more was waiting
        std::int64_t written = 0;  // to the store, ever; 0: it does not say
        Duration store_time{};     // of the claim and the settle
    };

    explicit Pace(const BatchLimits& limits) : limits_(limits) { calm(); }

    [[nodiscard]] BatchLimits limits() const { return {messages_, limits_.bytes}; }

    // Returns how long to rest. Turns back to back take a third of two processors. Where these
    // stand idle, latency counts, and there is no rest; where turns take longer than they need,
    // they take them from the application, and the more messages it writes, the longer a turn for
    // many is worth waiting for. Both are judged over a while: a single turn that was held up makes
    // nobody wait.
    [[nodiscard]] Duration after(const Turn& turn, MonoTime now) {
        const double seconds = std::max(in_seconds(now - last_), 1e-6);
        const double weight = seconds / (seconds + kMemory);
        last_ = now;
        rate_ += (count(turn) / seconds - rate_) * weight;
        crowd_ += (std::min(slowness(turn, seconds), kSlownessMax) - crowd_) * weight;
        if (turn.full) {
            grow();
            return Duration::zero();
        }
        calm();
        return crowd_ > kCrowded ? rest_at(rate_) : Duration::zero();
    }

    void shrink() { messages_ = 1; }

    // In a crowd, with so many messages a second: where two processors are busy with half of what
    // they can do next to nothing, where they are busy with all of it the most.
    [[nodiscard]] static Duration rest_at(double rate) {
        const double doublings = std::min((rate - kBusyRate) / kRateDoubles, 30.0);
        const auto rest = static_cast<Duration::rep>(
            static_cast<double>(kBusyRest.count()) * std::exp2(doublings)
        );
        return Duration(rest) < kRestMin ? Duration::zero() : std::min(Duration(rest), kRestMax);
    }

    static constexpr Duration kRestMax = std::chrono::milliseconds(100);

private:
    [[nodiscard]] static double in_seconds(Duration time) {
        return std::chrono::duration<double>(time).count();
    }

    void grow() { messages_ = std::min(messages_ * 2, limits_.messages); }
    void calm() { messages_ = std::max(messages_, std::min(kFirst, limits_.messages)); }

    // What was written since the last turn, by whomever and whoever took it. From a store that does
    // not say: what we took ourselves; where more was waiting that is no measure of what comes in.
    [[nodiscard]] double count(const Turn& turn) {
        const std::int64_t before = std::exchange(written_, turn.written);
        if (turn.written == 0) return turn.full ? 0 : static_cast<double>(turn.messages);
        return before == 0 ? 0 : static_cast<double>(std::max(turn.written - before, kNone));
    }

    // How long the turn has taken, in the time that it needs. What turns take longer than the
    // quickest of late, they wait for a processor or a disk that the application is using.
    [[nodiscard]] double slowness(const Turn& turn, double seconds) {
        const double taken = std::max(in_seconds(turn.store_time), 1e-6);
        quickest_ = std::min(quickest_ * (1 + seconds / kForgets), taken);
        return taken / (quickest_ + static_cast<double>(turn.messages) * kEach);
    }

    static constexpr std::size_t kFirst = 256;
    static constexpr std::int64_t kNone = 0;
    static constexpr double kForgets = 20;  // seconds until the quickest has doubled, about
    static constexpr double kMemory = 0.1;  // seconds
    static constexpr double kEach = 2e-6;   // seconds that a message adds to a turn
    static constexpr double kCrowded = 1.5;
    static constexpr double kSlownessMax = 8;
    static constexpr double kBusyRate = 6000;
    static constexpr double kRateDoubles = 500;
    static constexpr Duration kBusyRest = std::chrono::milliseconds(1);
    static constexpr Duration kRestMin = std::chrono::microseconds(100);  // else not worth a wait

    BatchLimits limits_;
    std::size_t messages_ = 1;
    MonoTime last_;             // turn
    std::int64_t written_ = 0;  // as it said
    double rate_ = 0;           // messages a second
    double crowd_ = 1;          // the slowness of late
    double quickest_ = 3600;    // seconds that a turn took
};

}  // namespace outrider
