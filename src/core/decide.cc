#include "core/decide.h"

#include <algorithm>
#include <cmath>

#include "core/hash.h"
#include "core/text.h"

namespace outrider {
namespace {

bool is_spent(const Retry& retry, const Settlement& refusal, WallTime now) {
    const bool by_count = retry.attempts_max != 0 && refusal.attempts >= retry.attempts_max;
    const bool by_age =
        retry.age_max > Duration::zero() && now - *refusal.refused_at >= retry.age_max;
    return by_count || by_age;
}

// The longer of what the rules say and what the broker asked for, which may be anything: the rules
// bound it.
Duration wait_after(const Retry& retry, const Settlement& refusal, const Answer& answer, Dice& d) {
    const Duration asked = answer.retry_after.value_or(Duration::zero());
    return std::max(retry_delay(retry, refusal.attempts, d), std::min(asked, retry.delay_max));
}

Settlement bury(const Envelope& envelope, const Destination& destination, Settlement settlement) {
    settlement.fate = Fate::dead;
    settlement.park_key = park_key(envelope, destination);
    settlement.holds_key =
        destination.after_death == AfterDeath::hold && destination.on_failure == OnFailure::block;
    return settlement;
}

}  // namespace

Duration retry_delay(const Retry& retry, std::uint32_t attempts, Dice& dice) {
    const double doublings = std::min(attempts == 0 ? 0U : attempts - 1, 62U);
    const double full = std::min(
        static_cast<double>(retry.delay_first.count()) * std::exp2(doublings),
        static_cast<double>(retry.delay_max.count())
    );
    const double stretch = 1.0 + retry.jitter * (2.0 * dice.roll() - 1.0);
    return Duration(static_cast<Duration::rep>(std::max(full * stretch, 0.0)));
}

OrderKey park_key(const Envelope& envelope, const Destination& destination) {
    return destination.on_failure == OnFailure::block ? envelope.order_key
                                                      : own_order_key(envelope.seq);
}

Settlement decide(
    const Envelope& envelope,
    const Answer& answer,
    const Destination& destination,
    WallTime now,
    Dice& dice
) {
    Settlement settlement;
    settlement.attempts = envelope.attempts;
    settlement.refused_at = envelope.refused_at;
    if (answer.verdict == Verdict::unanswered) return settlement;
    if (answer.verdict == Verdict::acknowledged) {
        settlement.fate = Fate::done;
        return settlement;
    }
    settlement.attempts += 1;
    settlement.refused_at = envelope.refused_at.value_or(now);
    settlement.reason = clean_reason(answer.reason);
    if (answer.verdict == Verdict::unacceptable || is_spent(destination.retry, settlement, now)) {
        return bury(envelope, destination, std::move(settlement));
    }
    settlement.fate = Fate::again;
    settlement.park_key = park_key(envelope, destination);
    settlement.due_at = now + wait_after(destination.retry, settlement, answer, dice);
    return settlement;
}

Settlement wait_until(const Envelope& envelope, WallTime due_at) {
    Settlement settlement;
    settlement.fate = Fate::again;
    settlement.attempts = envelope.attempts;
    settlement.refused_at = envelope.refused_at;
    settlement.due_at = due_at;
    settlement.park_key = envelope.order_key;
    return settlement;
}

std::string clean_reason(std::string_view text) {
    // JSON's own escaping does the cleaning; the quotes around it go.
    std::string clean;
    append_json_string(clean, text.substr(0, kReasonBytesMax));
    clean = clean.substr(1, clean.size() - 2);
    while (clean.size() > kReasonBytesMax || !is_utf8(clean)) clean.pop_back();
    return clean;
}

}  // namespace outrider
