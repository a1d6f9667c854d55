#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "core/batch.h"
#include "core/clock.h"
#include "core/store.h"
#include "core/verdict.h"
#include "relay/suspicion.h"

namespace outrider {

// Sees to it that a handler which ends the process does not end it for ever (suspicion.h has the
// rules). Shared by the workers of a destination whose broker runs in this process; safe from any
// thread. While all is well a look at one flag is all that it costs.
class Caution {
public:
    // All outlive it. A session of its own begins with the first enter().
    Caution(const Destination& destination, StoreDriver& store, Clock& clock);

    // Whenever a worker has opened its store, before its first turn. On failure nothing may be
    // handed over.
    [[nodiscard]] Result<void> enter();

    // enter() went well, and nothing has failed since.
    [[nodiscard]] bool is_entered() const { return entered_; }

    // The relay stops in order. If that cannot be written, the next one goes carefully for nothing.
    void leave();

    // Turns should be of one message, so that what was settled tells where it happened.
    [[nodiscard]] bool is_careful() const { return careful_; }

    // Before a message is handed over. An answer: it must not be, and that is what became of it.
    [[nodiscard]] std::optional<Answer> admit(const Envelope& envelope);

    // The message was handed over, and this process is still there.
    void survived(const Envelope& envelope);

    // A turn of this worker is over, and whether it found nothing to do.
    void turn_over(const void* worker, bool was_idle);

private:
    // All of these with the mutex held.
    [[nodiscard]] Result<void> open();
    [[nodiscard]] Result<void> write(std::vector<Mark> marks);
    void adopt(const Suspicion& suspicion, Duration lag);
    void pass_the_place();
    void look_around();

    const Destination& destination_;
    StoreDriver& store_;
    Clock& clock_;
    const std::uint64_t session_;
    const std::size_t place_;  // as many messages were in flight at most

    std::mutex mutex_;
    std::unique_ptr<Logbook> logbook_;
    std::map<std::int64_t, std::uint32_t> ends_;  // of messages that are suspected
    std::set<std::int64_t> erased_;               // marks that may go with the next page
    std::set<const void*> idle_workers_;
    MonoTime visible_at_;       // from then on all that was in flight can be seen
    std::size_t survived_ = 0;  // since then
    bool unexplained_ = false;
    std::atomic<bool> entered_ = false;
    std::atomic<bool> careful_ = false;
    std::atomic<bool> attentive_ = false;  // careful, or somebody is suspected, or a mark must go
};

}  // namespace outrider
