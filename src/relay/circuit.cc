#include "relay/circuit.h"

#include <algorithm>

namespace outrider {

Circuit::Permit Circuit::ask(MonoTime now) {
    const std::lock_guard lock(mutex_);
    if (state_ == CircuitState::closed) return Permit::go;
    if (now < retry_at_) return Permit::wait;
    // Whoever else asks meanwhile waits as long as another failure would have him wait.
    state_ = CircuitState::half_open;
    retry_at_ = now + delay_;
    return Permit::probe;
}

bool Circuit::success() {
    const std::lock_guard lock(mutex_);
    const bool changed = state_ != CircuitState::closed;
    tried_ = true;
    state_ = CircuitState::closed;
    delay_ = Duration::zero();
    reason_.clear();
    return changed;
}

bool Circuit::failure(MonoTime now, std::string_view reason, Dice& dice) {
    const std::lock_guard lock(mutex_);
    const bool changed = state_ == CircuitState::closed;
    tried_ = true;
    state_ = CircuitState::open;
    delay_ = std::clamp(delay_ * 2, delay_first_, delay_max_);
    // A quarter of jitter, so that relays cut off together do not come back together.
    const auto jitter =
        static_cast<Duration::rep>(static_cast<double>(delay_.count()) / 4 * dice.roll());
    retry_at_ = now + delay_ - Duration(jitter);
    reason_ = reason;
    return changed;
}

bool Circuit::is_tried() const {
    const std::lock_guard lock(mutex_);
    return tried_;
}

MonoTime Circuit::retry_at() const {
    const std::lock_guard lock(mutex_);
    return retry_at_;
}

CircuitState Circuit::state() const {
    const std::lock_guard lock(mutex_);
    return state_;
}

std::string Circuit::reason() const {
    const std::lock_guard lock(mutex_);
    return reason_;
}

}  // namespace outrider
