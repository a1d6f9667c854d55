#pragma once

#include "outrider/time.h"

namespace outrider::postgres {

// Whether a bell costs more than it saves. A ring takes a lock of the whole cluster from the
// writer's commit, so a busy log is better polled; up to some hundred commits a second that lock is
// mostly free, and looking for each of them unasked would cost the server more. The two bounds lie
// apart, so that a rate between them changes nothing. A value; no thread, no clock.
class RingRate {
public:
    // Counts rings of one moment. True: too many lately, so lower the bell.
    [[nodiscard]] bool is_too_much(int rings, MonoTime now) {
        if (now - since_ > kRingSpan) {
            since_ = now;
            count_ = 0;
        }
        count_ += rings;
        return count_ >= kTooMuch;
    }

    // `numbers` were drawn within one span. True: few enough to be rung for.
    [[nodiscard]] static bool is_quiet(std::int64_t numbers) { return numbers <= kQuiet; }

    static constexpr Duration kSpan = std::chrono::milliseconds(100);

private:
    // Short: while the bell is up, sixteen busy writers commit a sixth of what they could.
    static constexpr Duration kRingSpan = std::chrono::milliseconds(25);
    static constexpr int kTooMuch = 16;
    static constexpr std::int64_t kQuiet = 20;  // within kSpan

    MonoTime since_;
    int count_ = 0;
};

}  // namespace outrider::postgres
