#include "brokers/http/classify.h"

#include <algorithm>
#include <array>

namespace outrider::http {
namespace {

// Of the statuses that blame the request, those that time or an operator mends without touching the
// message: login, payment, permission, place, proxy, the wrong server, a lock, too early, the
// protocol, too many, the law, a gateway that gave up (499).
constexpr std::array<long, 13> kMendable =
    {401, 402, 403, 404, 407, 408, 421, 423, 425, 426, 429, 451, 499};

constexpr std::array<long, 3> kAway = {502, 503, 504};
constexpr std::array<long, 2> kLockedOut = {401, 407};

// The same for every message: login, protocol, too slow, too early, too many. Permission (403) and
// place (404) are not among them: firewalls and applications look into bodies for both.
constexpr std::array<long, 8> kForAll = {401, 402, 407, 408, 421, 425, 426, 429};

template <std::size_t size>
bool is_in(const std::array<long, size>& list, long status) {
    return std::find(list.begin(), list.end(), status) != list.end();
}

}  // namespace

Verdict classify(long status) {
    if (status >= 200 && status < 300) return Verdict::acknowledged;
    const bool blames_message = status >= 400 && status < 500 && !is_in(kMendable, status);
    // A redirection is refused, too: whether to follow it is for the operator to say.
    return blames_message ? Verdict::unacceptable : Verdict::refused;
}

bool concerns_content(long status) {
    return status >= 400 && is_there(status) && !is_in(kForAll, status);
}

bool is_there(long status) {
    return !is_in(kAway, status);
}

bool is_turned_away(long status) {
    return is_in(kAway, status) || is_in(kLockedOut, status);
}

}  // namespace outrider::http
