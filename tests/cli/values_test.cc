#include "config/values.h"

#include <array>

#include <gtest/gtest.h>

#include "core/nearest.h"

namespace outrider {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(Values, DurationsHaveUnits) {
    EXPECT_EQ(parse_duration("250ms"), milliseconds(250));
    EXPECT_EQ(parse_duration("30s"), seconds(30));
    EXPECT_EQ(parse_duration("1h30m"), minutes(90));
    EXPECT_EQ(parse_duration("1.5s"), milliseconds(1500));
    EXPECT_EQ(parse_duration("7d"), hours(24 * 7));
    EXPECT_EQ(parse_duration("12us"), Duration(12));
    EXPECT_EQ(parse_duration("0"), Duration::zero());
}

TEST(Values, OtherTextIsNoDuration) {
    for (const char* text :
         {"",
          "30",
          "s",
          "-1s",
          "1 s",
          "1x",
          "1s2",
          "1e9d",
          "nan",
          "1..5s",
          "99999999999999999999d",
          "infs",
          "40000d"}) {
        EXPECT_FALSE(parse_duration(text)) << text;
    }
}

TEST(Values, DurationsArePrintedAsTheyAreRead) {
    for (const char* text : {"0s", "250ms", "1500ms", "30s", "90m", "1h", "7d", "12us"}) {
        EXPECT_EQ(format_duration(*parse_duration(text)), text);
    }
}

TEST(Values, SizesHaveUnits) {
    EXPECT_EQ(parse_bytes("8MiB"), 8U << 20U);
    EXPECT_EQ(parse_bytes("10MB"), 10'000'000U);
    EXPECT_EQ(parse_bytes("64KiB"), 65'536U);
    EXPECT_EQ(parse_bytes("512"), 512U);
    EXPECT_EQ(parse_bytes("512B"), 512U);
    for (const char* text : {"", "MiB", "-1", "1.5MiB", "8 MiB", "8mib", "99999999999GiB"}) {
        EXPECT_FALSE(parse_bytes(text)) << text;
    }
    EXPECT_EQ(format_bytes(8U << 20U), "8MiB");
    EXPECT_EQ(format_bytes(1000), "1000");
    EXPECT_EQ(format_bytes(0), "0");
}

TEST(Values, CountsAreDigits) {
    EXPECT_EQ(parse_count("20"), 20U);
    for (const char* text : {"", "-1", "+1", "1.0", "1 ", "0x10", "99999999999999999999"}) {
        EXPECT_FALSE(parse_count(text)) << text;
    }
}

TEST(Values, TheNearestNameIsFoundOrNone) {
    constexpr std::array<std::string_view, 3> kKnown = {"retention", "idle_poll", "standby_poll"};
    EXPECT_EQ(nearest("retenton", kKnown), "retention");
    EXPECT_EQ(nearest("idel_poll", kKnown), "idle_poll");
    EXPECT_EQ(nearest("colour", kKnown), "");
    EXPECT_EQ(edit_distance("abc", "acb"), 1U);
    EXPECT_EQ(edit_distance("", "abc"), 3U);
}

}  // namespace
}  // namespace outrider
