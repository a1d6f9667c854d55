#include "core/topics.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace outrider {
namespace {

TEST(Topics, MatchGlobsInWhichAStarTakesAnything) {
    struct Case {
        const char* pattern;
        const char* text;
        bool fits;
    };
    const Case cases[] = {
        {"*", "", true},
        {"*", "orders.placed", true},
        {"orders.*", "orders.placed", true},
        {"orders.*", "orders.placed.late", true},
        {"orders.*", "orders.", true},
        {"orders.*", "orders", false},
        {"orders", "orders", true},
        {"orders", "orders.placed", false},
        {"*.placed", "orders.placed", true},
        {"*.placed", "orders.placed.x", false},
        {"a*b*c", "abc", true},
        {"a*b*c", "axxbyybzzc", true},
        {"a*b*c", "axxbyyb", false},
        {"**", "x", true},
        {"", "", true},
        {"", "x", false},
        {"orders.?", "orders.x", false},
        {"[a]", "a", false},
    };
    for (const Case& c : cases)
        EXPECT_EQ(matches(c.pattern, c.text), c.fits) << c.pattern << c.text;
}

// The obvious, slow definition.
bool matches_slowly(std::string_view pattern, std::string_view text) {
    if (pattern.empty()) return text.empty();
    if (pattern[0] != '*') {
        return !text.empty() && pattern[0] == text[0] &&
               matches_slowly(pattern.substr(1), text.substr(1));
    }
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (matches_slowly(pattern.substr(1), text.substr(i))) return true;
    }
    return false;
}

TEST(Topics, AgreeWithTheSlowDefinition) {
    EXPECT_TRUE(rc::check([] {
        const auto pattern = *rc::gen::container<std::string>(rc::gen::element('a', 'b', '*'));
        const auto text = *rc::gen::container<std::string>(rc::gen::element('a', 'b'));
        RC_PRE(pattern.size() < 12U);
        RC_ASSERT(matches(pattern, text) == matches_slowly(pattern, text));
    }));
}

TEST(Topics, FilterGivesTheSameAnswerEveryTime) {
    TopicFilter filter({"orders.*", "mail"});
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(filter.takes("orders.placed"));
        EXPECT_FALSE(filter.takes("orders"));
        EXPECT_TRUE(filter.takes("mail"));
        EXPECT_FALSE(filter.takes(""));
    }
}

}  // namespace
}  // namespace outrider
