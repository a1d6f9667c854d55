#include "core/look_pause.h"

#include <gtest/gtest.h>

namespace outrider {
namespace {

using std::chrono::milliseconds;

TEST(LookPause, GrowsWhileNothingIsFoundAndStartsAnewAfterAFind) {
    LookPause pause(milliseconds(2), milliseconds(10));
    for (const int expected : {2, 4, 8, 10, 10}) EXPECT_EQ(pause.next(), milliseconds(expected));
    pause.found();
    EXPECT_EQ(pause.next(), milliseconds(2));
    EXPECT_EQ(pause.next(), milliseconds(4));
}

}  // namespace
}  // namespace outrider
