#pragma once

#include "outrider/error.h"

namespace outrider {

// Says what was expected and where, then ends the process: a relay that has lost track of itself
// must not go on.
[[noreturn]] void fail_assertion(const char* expectation, SourcePlace where);

}  // namespace outrider

// A mistake of ours, never of a user or of a server. On in every build.
#define OUTRIDER_ASSERT(expectation) \
    (static_cast<bool>(expectation)  \
         ? static_cast<void>(0)      \
         : ::outrider::fail_assertion(#expectation, ::outrider::SourcePlace::here()))
