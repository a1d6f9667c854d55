#pragma once

#include <string>
#include <vector>

namespace outrider {

// Where a value came from: "outrider.toml:3:7", "environment variable OUTRIDER_STORE_URL",
// "--store".
struct Origin {
    std::string text;
};

// One thing that is wrong with the configuration.
struct Problem {
    Origin origin;
    std::string text;     // what is wrong and what was expected; never a secret
    std::string nearest;  // the known name that was perhaps meant; may be empty
};

// "outrider.toml:3:7: unknown key 'ulr'; did you mean 'url'?"
[[nodiscard]] inline std::string to_string(const Problem& problem) {
    std::string text = problem.origin.text + ": " + problem.text;
    if (!problem.nearest.empty()) text += "; did you mean '" + problem.nearest + "'?";
    return text;
}

using Problems = std::vector<Problem>;

}  // namespace outrider
