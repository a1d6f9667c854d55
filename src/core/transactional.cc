#include "outrider/transactional.h"

#include <algorithm>
#include <string>
#include <thread>

#include "core/dice.h"

namespace outrider {

struct Tries::State {
    Repeat repeat;
    SeededDice dice;
    Duration delay;
    std::uint32_t done = 1;  // the one that is running included
};

Tries::Tries(const Repeat& repeat)
    : state_(std::make_unique<State>(State{repeat, SeededDice(random_seed()), repeat.delay_first})
      ) {
}

Tries::~Tries() = default;

bool Tries::may_repeat(const std::exception& error, const Transaction* tx) const {
    if (state_->repeat.also && state_->repeat.also(error)) return true;
    if (tx != nullptr) return tx->may_repeat(error);
    const auto* failure = dynamic_cast<const Failure*>(&error);
    return failure != nullptr && failure->remedy() == Remedy::yield;
}

void Tries::again(const std::string& error) {
    State& state = *state_;
    if (state.done >= state.repeat.tries_max) {
        throw Failure(
            {Remedy::wait,
             "the transaction was given up after " + std::to_string(state.done) +
                 " tries, and nothing of it was committed; the last error: " + error}
        );
    }
    ++state.done;
    const double part = 0.5 + state.dice.roll() / 2;
    std::this_thread::sleep_for(std::chrono::duration_cast<Duration>(state.delay * part));
    state.delay = std::min(state.delay * 2, state.repeat.delay_max);
}

}  // namespace outrider
