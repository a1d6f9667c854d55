#pragma once

#include <source_location>

namespace outrider {

// Says what was expected and where, then ends the process: a relay that has lost track of itself
// must not go on.
[[noreturn]] void fail_assertion(const char* expectation, std::source_location where);

}  // namespace outrider

// A mistake of ours, never of a user or of a server. On in every build.
#define OUTRIDER_ASSERT(expectation) \
    (static_cast<bool>(expectation)  \
         ? static_cast<void>(0)      \
         : ::outrider::fail_assertion(#expectation, std::source_location::current()))
