#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <vector>

#include "outrider/time.h"

#include "core/dice.h"
#include "simulation/fibre.h"

namespace outrider::simulation {

using FibreNumber = std::size_t;

// Virtual time, and who runs next: the fibre or timer whose moment comes first; among those of one
// moment the dice decide. Nothing ever waits for real.
class Scheduler {
public:
    explicit Scheduler(std::uint64_t seed) : dice_(seed) {}

    [[nodiscard]] MonoTime now() const { return now_; }

    // Begins a fibre now.
    FibreNumber spawn(std::function<void()> body);

    // Calls `body`, which must not sleep, at that moment.
    void at(MonoTime moment, std::function<void()> body);

    // From within a fibre: until that moment, or until somebody wakes it.
    void sleep_until(MonoTime moment);
    void sleep(Duration duration) { sleep_until(now_ + duration); }

    // The fibre goes on now, even if it was frozen.
    void wake(FibreNumber fibre);

    // Whatever the fibre sleeps for, it does not go on before that moment.
    void freeze(FibreNumber fibre, MonoTime until) { actors_[fibre].frozen_until = until; }

    [[nodiscard]] FibreNumber current() const { return current_; }
    [[nodiscard]] bool ended(FibreNumber fibre) const { return actors_[fibre].fibre.ended(); }

    // Until there is nothing left to do.
    void run();

private:
    static constexpr FibreNumber kTimer = SIZE_MAX;

    struct Actor {
        explicit Actor(std::function<void()> body) : fibre(std::move(body)) {}
        Fibre fibre;
        std::uint64_t version = 0;  // entries of an older one are void
        MonoTime frozen_until;
    };

    struct Entry {
        MonoTime moment;
        std::uint64_t tie = 0;
        FibreNumber fibre = kTimer;
        std::uint64_t version = 0;  // of a timer: its place
        bool operator>(const Entry& other) const {
            return moment != other.moment ? moment > other.moment : tie > other.tie;
        }
    };

    void enter(FibreNumber fibre, MonoTime moment);
    void run_timer(std::size_t place);
    void run_fibre(const Entry& entry);

    SeededDice dice_;
    MonoTime now_{};
    FibreNumber current_ = kTimer;
    std::deque<Actor> actors_;
    std::vector<std::function<void()>> timers_;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

}  // namespace outrider::simulation
