#include "cli/signals.h"

#include <chrono>

#include <unistd.h>

namespace outrider::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Signals that come closer than this are one wish.
constexpr Duration kTogether = std::chrono::seconds(1);

}  // namespace

StopSignals::StopSignals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGHUP);  // a terminal that is closed; whoever ignores it, still does
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

StopSignals::~StopSignals() {
    forget_pending();
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<int> StopSignals::wait(Duration patience) const {
    using namespace std::chrono;
    const auto whole = duration_cast<seconds>(patience);
    timespec time{};
    time.tv_sec = whole.count();
    time.tv_nsec = duration_cast<nanoseconds>(patience - whole).count();
    const int signal = sigtimedwait(&signals_, nullptr, &time);
    return signal > 0 ? std::optional(signal) : std::nullopt;
}

void StopSignals::forget_pending() const {
    while (wait(Duration::zero())) {
    }
}

StopGuard::StopGuard(
    const StopSignals& signals,
    Duration patience,
    std::function<void(const char*)> last_words
) {
    signals.forget_pending();
    const auto start = SteadyClock::now();
    const auto watch = [&signals, patience, start, last_words = std::move(last_words)](
                           const std::stop_token& stop
                       ) {
        const char* why = "the orderly stop took longer than relay.stop_deadline: ending now";
        while (SteadyClock::now() < start + patience) {
            if (stop.stop_requested()) return;
            if (!signals.wait(std::chrono::milliseconds(20))) continue;
            if (SteadyClock::now() < start + kTogether) continue;
            why = "a second signal came during the orderly stop: ending now";
            break;
        }
        if (stop.stop_requested()) return;
        last_words(why);
        ::_exit(1);  // threads still run: nothing may be torn down under them
    };
    thread_ = std::jthread(watch);
}

}  // namespace outrider::cli
