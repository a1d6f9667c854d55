#pragma once

#include <csignal>
#include <functional>
#include <optional>
#include <thread>

#include "outrider/time.h"

namespace outrider::cli {

// SIGTERM and SIGINT as something to wait for. Blocks them in this thread and in every thread that
// it starts from now on, so make it first. Those that were not waited for go with it: they asked
// for an end that has come.
class StopSignals {
public:
    StopSignals();
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

    // The signal that came, or nothing within this time.
    [[nodiscard]] std::optional<int> wait(Duration patience) const;

    // Takes those that have come and were not waited for.
    void forget_pending() const;

private:
    sigset_t signals_{};
    sigset_t before_{};
};

// Watches over an orderly stop: when it takes too long, or a signal comes a second after the stop
// has begun or later, says so by `last_words` and ends the process with exit code 1. What comes
// earlier is the wish for the stop itself: `timeout`, a terminal and service managers signal a
// process and then its group. Destroyed in time, it does nothing.
class StopGuard {
public:
    StopGuard(
        const StopSignals& signals,
        Duration patience,
        std::function<void(const char*)> last_words
    );

private:
    std::jthread thread_;
};

}  // namespace outrider::cli
