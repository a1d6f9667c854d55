#include "cli/drain.h"

#include <algorithm>

#include "cli/context.h"
#include "core/clock.h"

namespace outrider::cli {
namespace {

constexpr Duration kLook = std::chrono::milliseconds(50);

const DestinationStatus* find(const Backlog& backlog, const std::string& name) {
    const auto found = std::find_if(
        backlog.destinations.begin(),
        backlog.destinations.end(),
        [&](const DestinationStatus& status) { return status.name == name; }
    );
    return found == backlog.destinations.end() ? nullptr : &*found;
}

}  // namespace

std::optional<ExitCode> judge_drain(
    const Backlog& backlog,
    const std::vector<std::string>& destinations
) {
    bool stuck = false;
    bool leftovers = false;
    for (const std::string& name : destinations) {
        const DestinationStatus* status = find(backlog, name);
        if (status == nullptr) return std::nullopt;  // not introduced to the store yet
        const bool moves = status->pending > status->held_back;
        if (moves && !status->paused) return std::nullopt;
        stuck = stuck || moves || (status->paused && status->parked > 0);
        leftovers = leftovers || status->parked + status->held_back > 0 || status->dead > 0;
    }
    if (stuck) return kFailed;
    return leftovers ? kLeftovers : kFine;
}

ExitCode Drain::run() {
    SystemClock clock;
    const MonoTime start = clock.now();
    for (;;) {
        if (relay.is_idle()) {
            const auto judged = judge_drain(value_of(admin.backlog({})), destinations);
            if (judged == kFailed)
                log.error("a paused destination has messages that wait: resume it");
            if (judged == kLeftovers) log.warn("only parked or dead messages remain");
            if (judged) return *judged;
        }
        if (observer.has_refusal()) {
            log.error("a destination was refused, see above: nobody waits for it");
            return kFailed;
        }
        if (timeout && clock.now() - start >= *timeout) {
            log.error("not everything was delivered within --timeout");
            return kUnhealthy;
        }
        if (signals.wait(kLook)) {
            log.error("stopped before everything was delivered");
            return kFailed;
        }
    }
}

}  // namespace outrider::cli
