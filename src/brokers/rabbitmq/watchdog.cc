#include "brokers/rabbitmq/watchdog.h"

#include <sys/socket.h>

#include "core/clock.h"

namespace outrider::rabbitmq {

Watchdog::Watchdog() : thread_([this](const std::stop_token& stop) { run(stop); }) {
}

void Watchdog::watch(int socket, Deadline deadline) {
    const std::lock_guard lock(mutex_);
    task_ = Task{socket, deadline};
    changed_.notify_one();
}

// The thread is not woken for this: it finds nothing to do when it wakes by itself.
void Watchdog::rest() {
    const std::lock_guard lock(mutex_);
    task_.reset();
}

void Watchdog::run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
        if (!task_) {
            changed_.wait(lock, stop, [this] { return task_.has_value(); });
            continue;
        }
        const Deadline deadline = task_->deadline;
        changed_.wait_until(lock, stop, deadline, [&] {
            return task_ && task_->deadline < deadline;
        });
        if (task_ && SystemClock().now() >= task_->deadline) {
            ::shutdown(task_->socket, SHUT_RDWR);
            task_.reset();
        }
    }
}

}  // namespace outrider::rabbitmq
