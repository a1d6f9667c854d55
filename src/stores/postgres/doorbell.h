#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "outrider/observer.h"

#include "core/clock.h"
#include "core/descriptor.h"
#include "core/look_pause.h"
#include "core/waker.h"
#include "stores/postgres/bell_line.h"
#include "stores/postgres/options.h"
#include "stores/postgres/ring_rate.h"

namespace outrider::postgres {

// Wakes all workers of a process when somebody commits a message. One session and one thread for
// all of them, whatever their number. While the bell is raised the workers sleep until rung; while
// it is lowered (much traffic) they look every millisecond; while nobody can listen (a pooler, a
// lost session, wake = poll) they look again after pauses that grow.
//
// Nothing is missed: every worker looks once after the bell was raised, and once after each
// transaction that may have looked at the bell too early has ended.
class Doorbell {
public:
    // The observer must outlive it. Starts its thread unless `options` say poll.
    Doorbell(StoreOptions options, Names names, Observer& observer);
    ~Doorbell();
    Doorbell(const Doorbell&) = delete;
    Doorbell& operator=(const Doorbell&) = delete;

    // One worker's side. Keeps the doorbell alive.
    [[nodiscard]] static std::unique_ptr<Waker> make_waker(std::shared_ptr<Doorbell> doorbell);

private:
    class Sleeper;

    // Who can be relied on to say that something is new.
    enum class State : std::uint8_t {
        raised,   // the writers
        lowered,  // nobody, and there is much traffic
        away,     // nobody, and it may stay like that
    };

    void run(const std::stop_token& stop);
    [[nodiscard]] Result<void> serve(const std::stop_token& stop);
    [[nodiscard]] Result<void> raise(BellLine& line);
    [[nodiscard]] Result<void> attend(BellLine& line);
    [[nodiscard]] Result<bool> is_crowded(BellLine& line, int rings);
    [[nodiscard]] Result<void> watch_traffic(BellLine& line);
    void say_once(const std::string& text);

    // Everybody looks; from now on `state` holds.
    void rouse(State state);
    void pause_until(MonoTime until);

    const StoreOptions options_;
    const Names names_;
    Observer& observer_;
    SystemClock clock_;
    Descriptor stop_;  // readable once the thread is asked to stop
    RingRate rate_;
    Duration unended_pause_ = Duration::zero();
    std::int64_t traffic_ = 0;
    std::string said_;

    std::mutex mutex_;
    std::condition_variable condition_;
    State state_ = State::away;
    std::uint64_t looks_ = 0;  // how often everybody was asked to look
    std::jthread thread_;      // last: it uses all of the above
};

}  // namespace outrider::postgres
