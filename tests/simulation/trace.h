#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "outrider/time.h"

namespace outrider::simulation {

// Everything that happens in a run, as one number: two runs of a seed must end with the same one.
// On request also as lines for a person, which costs far more than the run itself.
class Trace {
public:
    explicit Trace(bool keeps_lines) : keeps_lines_(keeps_lines) {}

    // `what` is a literal; the numbers mean what it says.
    struct Numbers {
        std::uint64_t a = 0;
        std::uint64_t b = 0;
        std::uint64_t c = 0;
    };
    void note(MonoTime now, std::string_view what, const Numbers& numbers);

    // Like note(), for what only a person wants to know: no part of the number.
    void remark(MonoTime now, const std::string& text);

    [[nodiscard]] bool keeps_lines() const { return keeps_lines_; }
    [[nodiscard]] std::uint64_t hash() const { return hash_; }
    [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

private:
    bool keeps_lines_;
    std::uint64_t hash_ = 0xcbf29ce484222325U;
    std::vector<std::string> lines_;
};

}  // namespace outrider::simulation
