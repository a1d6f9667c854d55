#include "core/broker.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "outrider/brokers.h"

#include "core/clock.h"
#include "core/lines.h"

namespace outrider {
namespace {

// The C library's own lock of stdout, so that the lines of several destinations do not mix.
class StdoutLock {
public:
    StdoutLock() { ::flockfile(stdout); }
    ~StdoutLock() { ::funlockfile(stdout); }
    StdoutLock(const StdoutLock&) = delete;
    StdoutLock& operator=(const StdoutLock&) = delete;
};

// Where the output stands. Of the whole process, like the output itself, and changed under its
// lock.
std::atomic<bool>& is_within_a_line() {
    static std::atomic<bool> within = false;
    return within;
}

// As much as a reader who sleeps cannot make us wait for, once there is room.
std::size_t piece_max() {
    struct stat facts {};
    const bool is_file = ::fstat(STDOUT_FILENO, &facts) == 0 && S_ISREG(facts.st_mode);
    return is_file ? SIZE_MAX : PIPE_BUF;
}

Result<void> await_room(Deadline deadline) {
    pollfd room{STDOUT_FILENO, POLLOUT, 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - SystemClock().now());
    const auto patience = std::clamp<std::int64_t>(left.count(), 0, 3'600'000);
    const int ready = ::poll(&room, 1, static_cast<int>(patience));
    if (ready > 0 || (ready < 0 && errno == EINTR)) return {};
    return Error{Remedy::wait, "nobody reads it"};
}

Result<void> write_until(std::string_view bytes, Deadline deadline) {
    const std::size_t most = piece_max();
    while (!bytes.empty()) {
        if (Result<void> room = await_room(deadline); !room) return room;
        const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), std::min(most, bytes.size()));
        if (written < 0 && errno != EAGAIN && errno != EINTR) return system_error("write", errno);
        if (written <= 0) continue;
        const auto count = static_cast<std::size_t>(written);
        is_within_a_line() = bytes[count - 1] != '\n';
        bytes.remove_prefix(count);
    }
    return {};
}

// Behind the beginning of a line that could not be finished, the next one gets a line of its own.
Result<void> write_batch(std::span<const Envelope> envelopes, Deadline deadline) {
    if (is_within_a_line()) {
        if (Result<void> ended = write_until("\n", deadline); !ended) return ended;
    }
    return write_lines(envelopes, [deadline](std::string_view piece) {
        return write_until(piece, deadline);
    });
}

class StdoutConnection final : public Broker {
public:
    [[nodiscard]] BrokerTraits traits() const override {
        return {.keeps_order = true, .keeps_global_order = true};
    }

    void publish(std::span<const Envelope> envelopes, Deadline deadline, std::span<Answer> answers)
        override {
        const StdoutLock lock;
        const Result<void> written = write_batch(envelopes, deadline);
        for (Answer& answer : answers) {
            if (written) {
                answer.verdict = Verdict::acknowledged;
            } else {
                answer.reason = "standard output: " + written.error().text;
            }
        }
    }

    [[nodiscard]] Result<void> ping(Deadline /*deadline*/) override { return {}; }

    [[nodiscard]] Result<BrokerFacts> describe(Deadline /*deadline*/) override {
        return BrokerFacts{"standard output", "written; whoever reads it has to keep it"};
    }
};

class StdoutDriver final : public BrokerDriver {
public:
    [[nodiscard]] Result<std::unique_ptr<Broker>> open() override {
        return std::unique_ptr<Broker>(std::make_unique<StdoutConnection>());
    }
};

}  // namespace

std::shared_ptr<BrokerDriver> stdout_broker() {
    return std::make_shared<StdoutDriver>();
}

}  // namespace outrider
