#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "outrider/time.h"

namespace outrider::rabbitmq {

// rabbitmq-c waits for ever when it writes and the server does not read, which is just what
// RabbitMQ does while it is short of memory. The watchdog cuts the socket off at the deadline, so
// that the library comes back with an error. Owns a thread.
class Watchdog {
public:
    Watchdog();

    // From now on the socket is shut down at the deadline.
    void watch(int socket, Deadline deadline);

    // Not any more. The socket may be closed afterwards.
    void rest();

    // Watches for as long as it lives.
    class Shift {
    public:
        Shift(Watchdog& dog, int socket, Deadline deadline) : dog_(dog) {
            dog_.watch(socket, deadline);
        }
        ~Shift() { dog_.rest(); }
        Shift(const Shift&) = delete;
        Shift& operator=(const Shift&) = delete;

    private:
        Watchdog& dog_;
    };

private:
    struct Task {
        int socket = -1;
        Deadline deadline;
    };

    void run(const std::stop_token& stop);

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::optional<Task> task_;
    std::jthread thread_;  // the last: it uses all the others
};

}  // namespace outrider::rabbitmq
