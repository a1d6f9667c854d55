#include "core/topics.h"

#include <vector>

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

// The obvious, slow definition, each pair of rests once: one by one, a few stars take for ever.
bool matches_slowly(std::string_view pattern, std::string_view text) {
    std::vector<bool> fits(text.size() + 1, false);  // whether the rest of the pattern takes it
    fits[text.size()] = true;
    for (std::size_t p = pattern.size(); p-- > 0;) {
        std::vector<bool> longer(text.size() + 1, false);
        for (std::size_t t = text.size() + 1; t-- > 0;) {
            const bool more = t < text.size();
            longer[t] = pattern[p] == '*' ? fits[t] || (more && longer[t + 1])
                                          : more && pattern[p] == text[t] && fits[t + 1];
        }
        fits = std::move(longer);
    }
    return fits[0];
}

TEST(Topics, AgreeWithTheSlowDefinition) {
    EXPECT_TRUE(rc::check([] {
        const auto pattern = *rc::gen::container<std::string>(rc::gen::element('a', 'b', '*'));
        const auto text = *rc::gen::container<std::string>(rc::gen::element('a', 'b'));
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
