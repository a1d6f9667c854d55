#pragma once

#include <span>
#include <string_view>

#include "core/verdict.h"

namespace outrider::wire {

// Gives the reason to every message that stayed unanswered without one.
inline void explain(std::span<Answer> answers, std::string_view reason) {
    for (Answer& answer : answers) {
        const bool is_bare = answer.verdict == Verdict::unanswered && answer.reason.empty();
        if (is_bare) answer.reason = reason;
    }
}

}  // namespace outrider::wire
