#pragma once

#include <algorithm>
#include <cstdint>

namespace outrider::postgres {

// How many lanes the next look of a claim locks, and from which on they are tried. At first a
// worker's share. If nothing is there, all of them, since whoever rang may have meant others. What
// is found then is taken with a share again, from where it lies on: who kept all lanes while a
// broker does not answer would leave none to the other workers. Shares begin at multiples of their
// size: the lanes of one have mostly moved together then, stand at one place, and are read in one
// go (two places cost a quarter more). A value; no lock, no clock.
class LaneShare {
public:
    LaneShare(std::int64_t all, std::int64_t workers, std::int64_t first)
        : all_(all),
          share_(std::min((all + workers - 1) / workers, kLanesMax)),
          lanes_(share_),
          first_(start_of(first)) {}

    [[nodiscard]] std::int64_t lanes() const { return lanes_; }
    [[nodiscard]] std::int64_t first() const { return first_; }

    // False: all were looked at already.
    [[nodiscard]] bool widen() {
        const bool wider = lanes_ < all_;
        lanes_ = all_;
        return wider;
    }

    // False: it is a share already, or was narrowed before. Somebody may be quicker to lock that
    // lane, again and again.
    [[nodiscard]] bool narrow(std::int64_t first) {
        if (lanes_ == share_ || narrowed_) return false;
        narrowed_ = true;
        lanes_ = share_;
        first_ = start_of(first);
        return true;
    }

    // Locks are a common good, and a turn keeps its own while the broker answers.
    static constexpr std::int64_t kLanesMax = 32;

private:
    [[nodiscard]] std::int64_t start_of(std::int64_t lane) const { return lane - lane % share_; }

    std::int64_t all_;
    std::int64_t share_;
    std::int64_t lanes_;
    std::int64_t first_;
    bool narrowed_ = false;
};

}  // namespace outrider::postgres
