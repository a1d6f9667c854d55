#include "core/text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "core/clock.h"
#include "core/decide.h"

namespace outrider {
namespace {

std::string json(std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
}

TEST(Text, KnowsUtf8) {
    const char* good[] = {"", "a", "ü", "€", "😀", "\x7f", "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf"};
    for (const char* text : good) EXPECT_TRUE(is_utf8(text)) << text;
    const char* bad[] = {
        "\x80",
        "\xc0\x80",
        "\xc1\xbf",
        "\xe0\x80\x80",
        "\xed\xa0\x80",
        "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xff",
        "a\xc3",
        "\xe2\x82",
        "\xf0\x9f\x98",
    };
    for (const char* text : bad) EXPECT_FALSE(is_utf8(text)) << json(text);
}

TEST(Text, WritesJsonStrings) {
    EXPECT_EQ(json("plain"), "\"plain\"");
    EXPECT_EQ(json("\"\\\n\r\t"), R"("\"\\\n\r\t")");
    EXPECT_EQ(json(std::string_view("\0\x1f\x7f", 3)), R"("\u0000\u001f\u007f")");
    EXPECT_EQ(json("ü€😀"), "\"ü€😀\"");
    EXPECT_EQ(json("a\xff z"), "\"a\xef\xbf\xbd z\"");
}

TEST(Text, WritesNothingButUtf8WhateverItGets) {
    EXPECT_TRUE(rc::check([](const std::string& bytes) {
        const std::string out = json(bytes);
        RC_ASSERT(is_utf8(out));
        RC_ASSERT(out.find('\n') == std::string::npos);
    }));
}

TEST(Text, WritesBase64) {
    const std::pair<const char*, const char*> cases[] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
        {"\xff\xfe", "//4="},
    };
    for (const auto& [bytes, expected] : cases) {
        std::string out;
        append_base64(out, bytes);
        EXPECT_EQ(out, expected);
    }
}

TEST(Text, CutsReasonsAtACharacter) {
    EXPECT_EQ(clean_reason("connection refused"), "connection refused");
    EXPECT_EQ(clean_reason("<html>\n"), "<html>\\n");
    EXPECT_TRUE(rc::check([](const std::string& bytes) {
        std::string text;
        for (int i = 0; i < 100; ++i) text += bytes;
        const std::string clean = clean_reason(text);
        RC_ASSERT(clean.size() <= kReasonBytesMax);
        RC_ASSERT(is_utf8(clean));
    }));
    EXPECT_EQ(clean_reason(std::string(1U << 20U, 'x')).size(), kReasonBytesMax);
}

TEST(Text, WritesTimesInUtcWithMilliseconds) {
    EXPECT_EQ(to_iso(WallTime{}), "1970-01-01T00:00:00.000Z");
    EXPECT_EQ(to_iso(from_millis(1'700'000'000'123)), "2023-11-14T22:13:20.123Z");
    EXPECT_EQ(to_iso(from_millis(-1)), "1969-12-31T23:59:59.999Z");
}

TEST(Text, KeepsHostileTimesWithinTheCalendar) {
    EXPECT_EQ(to_iso(from_millis(std::numeric_limits<std::int64_t>::max())).substr(0, 4), "9999");
    EXPECT_EQ(to_iso(from_millis(std::numeric_limits<std::int64_t>::min())).substr(0, 4), "0001");
    EXPECT_EQ(to_millis(from_millis(42)), 42);
    EXPECT_EQ(to_iso(WallTime::max()), "9999-12-31T23:59:59.999Z");
    EXPECT_EQ(to_iso_micros(WallTime::max()), "9999-12-31T23:59:59.999999Z");
    EXPECT_EQ(to_iso_micros(WallTime::min()), "0001-01-01T00:00:00.000000Z");
}

}  // namespace
}  // namespace outrider
