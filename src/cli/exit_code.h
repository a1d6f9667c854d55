#pragma once

#include <stdexcept>
#include <string>

namespace outrider::cli {

// What the shell gets. Documented in `outrider --help`.
enum ExitCode : int {
    kFine = 0,
    kFailed = 1,
    kUsage = 2,      // usage or configuration
    kLeftovers = 3,  // only parked or dead messages remain
    kUnhealthy = 4,  // unhealthy, or out of time
    kNothingMatched = 5,
    kCannotConnect = 6,
};

// Ends a verb: main prints "outrider: TEXT" and exits with the code. The text says what happened,
// then what to do.
class Stop : public std::runtime_error {
public:
    Stop(ExitCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
    [[nodiscard]] ExitCode code() const { return code_; }

private:
    ExitCode code_;
};

}  // namespace outrider::cli
