#include "brokers/http/classify.h"

#include <algorithm>
#include <array>

namespace outrider::http {
namespace {

// Of the statuses that blame the request, those that time or an operator mends without touching the
// message: login, permission, place, too slow, too early, too many.
constexpr std::array<long, 6> kMendable = {401, 403, 404, 408, 425, 429};

constexpr std::array<long, 3> kAway = {502, 503, 504};

}  // namespace

Verdict classify(long status) {
    if (status >= 200 && status < 300) return Verdict::acknowledged;
    const bool is_mendable =
        std::find(kMendable.begin(), kMendable.end(), status) != kMendable.end();
    const bool blames_message = status >= 400 && status < 500 && !is_mendable;
    // A redirection is refused, too: whether to follow it is for the operator to say.
    return blames_message ? Verdict::unacceptable : Verdict::refused;
}

bool is_there(long status) {
    return std::find(kAway.begin(), kAway.end(), status) == kAway.end();
}

}  // namespace outrider::http
