#pragma once

#include <bit>
#include <cstdint>
#include <utility>

#include "outrider/time.h"

namespace outrider::postgres {

// Whether a bell costs more than it saves. A ring takes a lock of the whole cluster from the
// writer's commit, so a busy log is better polled; up to some hundred commits a second that lock is
// mostly free, and looking for each of them unasked would cost the server more. Where disks are
// slow few rings get through and many wait, which only the server can tell. The two bounds lie
// apart, so that a rate between them changes nothing. A value; no thread, no clock.
class RingRate {
public:
    enum class Crowd : std::uint8_t {
        none,
        perhaps,  // they follow each other closely: ask how many wait
        sure,     // lower the bell
    };

    // Counts rings of one moment. It is worth to ask at the second of late, and whenever there are
    // twice as many.
    [[nodiscard]] Crowd count(unsigned rings, MonoTime now) {
        if (now - since_ > kRingSpan) {
            since_ = now;
            count_ = 0;
        }
        const unsigned before = std::exchange(count_, count_ + rings);
        if (count_ >= kTooMuch) return Crowd::sure;
        const bool doubled = count_ > 1 && std::bit_width(count_) > std::bit_width(before);
        return doubled ? Crowd::perhaps : Crowd::none;
    }

    // So many commits wait for another one that rings. True: lower the bell.
    [[nodiscard]] static bool is_too_many(std::int64_t waiting) { return waiting >= kTooMany; }

    // `numbers` were drawn within one span. True: few enough to be rung for.
    [[nodiscard]] static bool is_quiet(std::int64_t numbers) { return numbers <= kQuiet; }

    static constexpr Duration kSpan = std::chrono::milliseconds(100);

private:
    // Short: while the bell is up, sixteen busy writers commit a sixth of what they could.
    static constexpr Duration kRingSpan = std::chrono::milliseconds(25);
    static constexpr unsigned kTooMuch = 16;
    static constexpr std::int64_t kTooMany = 2;
    static constexpr std::int64_t kQuiet = 20;  // within kSpan

    MonoTime since_;
    unsigned count_ = 0;
};

}  // namespace outrider::postgres
