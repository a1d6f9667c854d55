#include "stores/postgres/passed.h"

#include <gtest/gtest.h>

// Where the messages of transactions that are in progress may lie.

namespace outrider::postgres {
namespace {

using Floors = std::vector<std::int64_t>;

struct PassedCase {
    const char* what;
    Passed passed;
    Later later;
    Floors floors;
};

TEST(PostgresPassed, KnowsAFloorForEveryTransactionInProgress) {
    const PassedCase cases[] = {
        {"nothing in progress", {"10:20:", 7, {}}, {"30:30:"}, {}},
        {"begun since", {"10:20:", 7, {}}, {"25:30:25,28"}, {7, 7}},
        {"the first id behind it", {"10:20:", 7, {}}, {"20:21:20"}, {7}},
        {"in progress before", {"10:20:10,15", 7, {2, 5}}, {"15:30:15,25"}, {5, 7}},
        {"all of them still", {"10:20:10,15", 7, {2, 5}}, {"10:20:10,15"}, {2, 5}},
        {"nobody knows where it began", {"10:20:10,15", 7, {}}, {"10:30:10,15,25"}, {0, 0, 7}},
        {"known for some", {"10:20:10,15", 7, {2}}, {"10:30:10,15"}, {2, 0}},
        {"never seen", {"10:20:10", 7, {2}}, {"12:30:12"}, {0}},
        {"the very first window", {"3:3:", 0, {}}, {"5:9:5,7"}, {0, 0}},
        {"ids of 64 bits",
         {"1:18446744073709551000:", 7, {}},
         {"1:18446744073709551001:18446744073709551000"},
         {7}},
        {"some since the floor", {"10:20:", 7, {}}, {"25:30:25,28", 9, 28}, {7, 9}},
        {"all since the floor", {"10:20:10", 7, {2}}, {"10:30:10,28", 9, 28}, {2, 9}},
        {"who wrote it is still there", {"10:20:", 7, {}}, {"28:30:28", 9, 28}, {9}},
    };
    for (const PassedCase& one : cases) {
        EXPECT_EQ(late_floors(one.passed, one.later), one.floors) << one.what;
    }
}

struct ReachCase {
    const char* what;
    Passed passed;
    std::int64_t low;
    std::vector<std::uint64_t> far;
};

TEST(PostgresPassed, KnowsWhereNewMessagesMayLie) {
    const ReachCase cases[] = {
        {"nothing in progress", {"10:20:", 7000, {}}, 7000, {}},
        {"one that began since", {"10:20:10", 7000, {7000}}, 7000, {}},
        {"the lowest of some", {"10:20:10,15,16", 7000, {6500, 6000, 6900}}, 6000, {}},
        {"one that began long ago", {"10:20:10,15", 7000, {5999, 6900}}, 6900, {10}},
        {"nobody knows where it began", {"10:20:10,15", 7000, {6900}}, 6900, {15}},
        {"the very first numbers", {"10:20:10", 7, {}}, 0, {}},
    };
    for (const ReachCase& one : cases) {
        const Reach reach = reach_of(one.passed);
        EXPECT_EQ(reach.low, one.low) << one.what;
        EXPECT_EQ(reach.far, one.far) << one.what;
    }
}

}  // namespace
}  // namespace outrider::postgres
