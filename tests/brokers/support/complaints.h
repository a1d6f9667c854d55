#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/result.h"

namespace outrider::live {

// Every URL is refused for a reason that has its text in it, and none that has the secret "geheim".
template <class Options>
void expect_complaints(
    Result<Options> (*parse)(std::string_view, Options),
    const std::vector<std::pair<std::string, std::string>>& rows
) {
    for (const auto& [url, part] : rows) {
        const Result<Options> options = parse(url, {});
        ASSERT_FALSE(options) << url;
        EXPECT_NE(options.error().text.find(part), std::string::npos)
            << url << ": " << options.error().text;
        EXPECT_EQ(options.error().text.find("geheim"), std::string::npos) << url;
    }
}

}  // namespace outrider::live
