#include "relay/suspicion.h"

#include <gtest/gtest.h>

namespace outrider {
namespace {

using Marks = std::vector<Mark>;

TEST(Suspicion, SaysHowAMessageIsHandedOver) {
    struct Case {
        std::uint32_t ends;
        bool careful;
        Passage expected;
    };
    const Case cases[] = {
        {0, false, Passage::plain},   // all is well: nothing is written
        {0, true, Passage::marked},   // somebody ended, nobody knows over what
        {1, false, Passage::marked},  // suspected, wherever the relay is
        {2, true, Passage::marked},
        {3, false, Passage::refuse},
        {3, true, Passage::refuse},
        {7, true, Passage::refuse},
    };
    for (const Case& one : cases) {
        EXPECT_EQ(passage_of(one.ends, one.careful), one.expected)
            << one.ends << (one.careful ? " careful" : "");
    }
}

TEST(Suspicion, CountsEndsAgainstWhatWasInHand) {
    struct Case {
        const char* name;
        Legacy legacy;
        bool careful;
        bool unexplained;
        Marks marks;
    };
    const Case cases[] = {
        {"a first start", {0, false, {}}, false, false, {}},
        {"the first unclean end", {1, false, {}}, true, true, {}},
        {"again, and still no mark", {1, true, {}}, true, true, {}},
        {"the first marked end explains the one before it",
         {1, true, {{7, 0, true}}},
         true,
         false,
         {{7, 2, false}}},
        {"a marked end", {1, false, {{7, 2, true}}}, true, false, {{7, 3, false}}},
        {"several in hand: each counts one, and nobody the unexplained one",
         {1, true, {{7, 0, true}, {8, 1, true}}},
         true,
         false,
         {{7, 1, false}, {8, 2, false}}},
        {"suspected before, not in hand", {1, false, {{7, 2, false}}}, true, true, {{7, 2, false}}},
        {"an orderly stop leaves suspicion",
         {0, false, {{7, 2, false}}},
         false,
         false,
         {{7, 2, false}}},
        {"two processes ended", {2, false, {{7, 0, true}}}, true, false, {{7, 1, false}}},
    };
    for (const Case& one : cases) {
        const Suspicion suspicion = suspect(one.legacy);
        EXPECT_EQ(suspicion.careful, one.careful) << one.name;
        EXPECT_EQ(suspicion.unexplained, one.unexplained) << one.name;
        EXPECT_EQ(suspicion.marks, one.marks) << one.name;
    }
}

TEST(Suspicion, TellsTheReason) {
    EXPECT_EQ(reason_of(3), "the process ended 3 times while this message was being handled");
}

}  // namespace
}  // namespace outrider
