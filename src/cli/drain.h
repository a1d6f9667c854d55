#pragma once

#include <optional>
#include <string>
#include <vector>

#include "outrider/relay.h"

#include "cli/exit_code.h"
#include "cli/log.h"
#include "cli/log_observer.h"
#include "cli/signals.h"
#include "core/store_admin.h"

namespace outrider::cli {

// How a drain of these destinations ends, if it has ended: nothing while messages are pending that
// nobody holds back. Fine: nothing is left. Leftovers: only messages are that wait or are dead.
// Failed: what is pending is pending for paused destinations.
[[nodiscard]] std::optional<ExitCode> judge_drain(
    const Backlog& backlog,
    const std::vector<std::string>& destinations
);

// Waits until a started relay has nothing left to do, or the time is over (unhealthy), or a signal
// comes or a destination is refused (failed).
struct Drain {
    Relay& relay;
    const LogObserver& observer;
    StoreAdmin& admin;
    const StopSignals& signals;
    Log& log;
    std::vector<std::string> destinations;
    std::optional<Duration> timeout;

    [[nodiscard]] ExitCode run();
};

}  // namespace outrider::cli
