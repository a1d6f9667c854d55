#include "stores/postgres/lane_share.h"

#include <gtest/gtest.h>

// Which lanes a worker goes for.

namespace outrider::postgres {
namespace {

struct ShareCase {
    const char* what;
    std::int64_t all;
    std::int64_t workers;
    std::int64_t first;
    std::int64_t lanes;
    std::int64_t start;
};

TEST(PostgresLaneShare, BeginsAtAMultipleOfItsSize) {
    const ShareCase cases[] = {
        {"one worker has them all", 16, 1, 11, 16, 0},
        {"the first half", 16, 2, 7, 8, 0},
        {"the second half", 16, 2, 8, 8, 8},
        {"the last share is smaller than the others", 16, 3, 15, 6, 12},
        {"more workers than lanes", 4, 9, 3, 1, 3},
        {"one order for everything", 1, 4, 0, 1, 0},
        {"no share is larger than this", 256, 2, 100, 32, 96},
    };
    for (const ShareCase& one : cases) {
        const LaneShare share(one.all, one.workers, one.first);
        EXPECT_EQ(share.lanes(), one.lanes) << one.what;
        EXPECT_EQ(share.first(), one.start) << one.what;
    }
}

TEST(PostgresLaneShare, LooksAtAllAndTakesAShareOfWhatItFinds) {
    LaneShare share(16, 4, 5);
    EXPECT_FALSE(share.narrow(9)) << "it is a share already";
    EXPECT_TRUE(share.widen());
    EXPECT_EQ(share.lanes(), 16);
    EXPECT_FALSE(share.widen()) << "all were looked at";
    EXPECT_TRUE(share.narrow(14));
    EXPECT_EQ(share.lanes(), 4);
    EXPECT_EQ(share.first(), 12);
    EXPECT_TRUE(share.widen());
    EXPECT_FALSE(share.narrow(14)) << "once is enough";
}

}  // namespace
}  // namespace outrider::postgres
