#include "relay/lone_failures.h"

namespace outrider {
namespace {

constexpr std::size_t kSeenMax = 10'000;

}  // namespace

Settlement LoneFailures::judge(
    const Envelope& envelope,
    const Answer& silence,
    const Destination& destination,
    WallTime now,
    Dice& dice
) {
    is_silent_ = true;
    if (seen_.size() >= kSeenMax) seen_.clear();
    const auto [place, is_first] = seen_.try_emplace(envelope.id, answers_);
    const bool others_went_well = place->second != answers_;
    place->second = answers_;
    if (is_first || !others_went_well) {
        return wait_until(envelope, now + destination.outage_delay_max);
    }
    Answer refusal;
    refusal.verdict = Verdict::refused;
    refusal.reason = "no answer to this message alone, and to others there was: " + silence.reason;
    return decide(envelope, refusal, destination, now, dice);
}

}  // namespace outrider
