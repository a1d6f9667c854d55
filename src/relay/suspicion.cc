#include "relay/suspicion.h"

#include <algorithm>

namespace outrider {

Passage passage_of(std::uint32_t ends, bool careful) {
    if (ends >= kEndsMax) return Passage::refuse;
    return careful || ends > 0 ? Passage::marked : Passage::plain;
}

Suspicion suspect(const Legacy& legacy) {
    const auto in_hand = std::count_if(legacy.marks.begin(), legacy.marks.end(), [](const Mark& m) {
        return m.in_hand;
    });
    Suspicion suspicion;
    suspicion.careful = legacy.ended > 0;
    suspicion.unexplained = in_hand == 0 && (legacy.ended > 0 || legacy.unexplained);
    suspicion.marks = legacy.marks;
    for (Mark& mark : suspicion.marks) {
        if (!mark.in_hand) continue;
        mark.in_hand = false;
        mark.ends += legacy.unexplained && in_hand == 1 ? 2 : 1;
    }
    return suspicion;
}

std::string reason_of(std::uint32_t ends) {
    return "the process ended " + std::to_string(ends) +
           " times while this message was being handled";
}

}  // namespace outrider
