#pragma once

#include <cstdint>
#include <map>

#include "core/decide.h"

namespace outrider {

// A broker that answers a ping may still be silent about one message, which breaks the connection
// or hangs whoever reads it. Offered alone it shows, and must stop nobody else: it is set aside for
// a while, uncharged, since the broker may have gone at this very moment. One that is silent again,
// although others were answered for meanwhile, is refused like any other. Of one worker; forgets
// when it ends. One thread at a time.
class LoneFailures {
public:
    // Messages were answered for.
    void answered() {
        ++answers_;
        is_silent_ = false;
    }

    // Whether one was set aside, and nothing was answered for since.
    [[nodiscard]] bool is_silent() const { return is_silent_; }

    // What becomes of a message that was offered alone, right after a ping, and stayed unanswered
    // while others wait.
    [[nodiscard]] Settlement judge(
        const Envelope& envelope,
        const Answer& silence,
        const Destination& destination,
        WallTime now,
        Dice& dice
    );

private:
    std::uint64_t answers_ = 0;
    bool is_silent_ = false;
    std::map<MessageId, std::uint64_t> seen_;  // answers so far, when each was silent last
};

}  // namespace outrider
