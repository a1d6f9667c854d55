#pragma once

#include <string>

#include "core/logbook.h"

// The rules for a broker that runs in this process and may end it. Pure.
//
// While all is well nothing is written, so the first unclean end says nothing about its message.
// From then on every message is marked before it is handed over, until the place has been passed
// where it happened; an end then counts against the marked message. The end that began it counts
// against the first message that is alone in hand at a further end, since the relay goes over the
// same messages in the same order.

namespace outrider {

// A message that counts this many ends is not handed over again, but refused. Being refused pays
// for one of them: when its next try is due, it is handed over once more.
inline constexpr std::uint32_t kEndsMax = 3;

// How a message is to be handed over.
enum class Passage : std::uint8_t {
    plain,   // as always
    marked,  // with a mark that says so
    refuse,  // not at all
};

[[nodiscard]] Passage passage_of(std::uint32_t ends, bool careful);

// What a session begins with.
struct Suspicion {
    bool careful = false;      // somebody ended without leaving
    bool unexplained = false;  // and no mark says over what
    std::vector<Mark> marks;   // none in hand
};

[[nodiscard]] Suspicion suspect(const Legacy& legacy);

// Why a message was not handed over.
[[nodiscard]] std::string reason_of(std::uint32_t ends);

}  // namespace outrider
