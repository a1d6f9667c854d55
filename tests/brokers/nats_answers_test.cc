#include <gtest/gtest.h>

#include "brokers/nats/classify.h"
#include "brokers/nats/json.h"
#include "brokers/nats/renewals.h"
#include "brokers/nats/stored.h"
#include "core/text.h"

namespace outrider::live {
namespace {

TEST(NatsClassify, KnowsWhatIsWhose) {
    EXPECT_EQ(nats::classify(400, 10054), Verdict::unacceptable);
    EXPECT_EQ(nats::classify(400, 10097), Verdict::unacceptable);
    EXPECT_EQ(nats::classify(503, 10008), Verdict::unanswered);
    EXPECT_EQ(nats::classify(500, 10047), Verdict::unanswered);
    EXPECT_EQ(nats::classify(503, 10076), Verdict::unanswered);
    EXPECT_EQ(nats::classify(400, 10060), Verdict::refused);
    EXPECT_EQ(nats::classify(503, 10077), Verdict::refused);
    EXPECT_EQ(nats::classify(404, 10059), Verdict::refused);
    EXPECT_EQ(nats::classify(400, 10109), Verdict::refused);
    EXPECT_EQ(nats::classify(503, 1), Verdict::unanswered);
    EXPECT_EQ(nats::classify(429, 1), Verdict::unanswered);
    EXPECT_EQ(nats::classify(400, 1), Verdict::refused);
    EXPECT_EQ(nats::classify(0, 0), Verdict::refused);
}

TEST(NatsAck, CountsOnlyWithStreamAndSequence) {
    const auto verdict = [](std::string_view text, std::string_view stream = "") {
        return nats::read_ack(text, stream)->answer.verdict;
    };
    EXPECT_EQ(verdict(R"({"stream":"S","seq":1})"), Verdict::acknowledged);
    EXPECT_FALSE(nats::read_ack(R"({"stream":"S","seq":1})", "")->is_duplicate);
    EXPECT_TRUE(nats::read_ack(R"({"stream":"S","seq":7,"duplicate":true})", "")->is_duplicate);
    EXPECT_EQ(verdict(R"({"stream":"S","seq":0,"duplicate":true})"), Verdict::unanswered);
    EXPECT_EQ(verdict(R"({"stream":"S","seq":"x"})"), Verdict::unanswered);
    EXPECT_EQ(verdict(R"({"stream":"S","seq":1})", "T"), Verdict::refused);
    EXPECT_EQ(verdict(R"({"stream":"S","seq":1})", "S"), Verdict::acknowledged);
    EXPECT_EQ(
        verdict(R"({"error":{"code":503,"err_code":10077,"description":"full"},"seq":0})"),
        Verdict::refused
    );
    EXPECT_EQ(verdict(R"({"error":{"code":"?","err_code":[]}})"), Verdict::refused);
    EXPECT_EQ(
        verdict(R"( { "seq" : 3 , "x":[{"y":"]}"}], "stream" : "S" } )"), Verdict::acknowledged
    );
    for (const char* junk :
         {"",
          "+OK",
          "[]",
          "{}",
          R"({"seq":1})",
          R"({"stream":1,"seq":1})",
          R"({"stream":"S","seq":1)",
          R"({"stream":"S","seq":1}})",
          R"({"stream":"S)",
          R"({"stream":"S\)",
          R"({"stream":"S",})",
          R"({"a":[,"stream":"S","seq":1})",
          "{\"a\":\"\\",
          "{,}",
          "{\"\":}"}) {
        EXPECT_FALSE(nats::read_ack(junk, "")) << junk;
    }
}

TEST(NatsStored, IsThereOnlyWithItsIdAndSubject) {
    const auto found = [](std::string_view headers, const std::string& subject = "s") {
        std::string text =
            R"({"type":"t","message":{"subject":")" + subject + R"(","seq":1,"hdrs":")";
        append_base64(text, headers);
        return nats::read_stored(text + R"(","data":"eA=="}})", "1", "s");
    };
    EXPECT_EQ(found("NATS/1.0\r\nNats-Msg-Id: 1\r\n\r\n"), nats::Stored::there);
    EXPECT_EQ(found("NATS/1.0\r\nA: b\r\nNats-Msg-Id: 1\r\n\r\n"), nats::Stored::there);
    EXPECT_EQ(found("NATS/1.0\r\nNats-Msg-Id: 12\r\n\r\n"), nats::Stored::gone);
    EXPECT_EQ(found("NATS/1.0\r\nX: Nats-Msg-Id: 1\r\n\r\n"), nats::Stored::gone);
    EXPECT_EQ(found(""), nats::Stored::gone);
    EXPECT_EQ(found("NATS/1.0\r\nNats-Msg-Id: 1\r\n\r\n", "t"), nats::Stored::gone);
    EXPECT_EQ(nats::read_stored(R"({"message":{"seq":1}})", "1", "s"), nats::Stored::gone);
    EXPECT_EQ(nats::read_stored(R"({"error":{"err_code":10037}})", "1", "s"), nats::Stored::gone);
    EXPECT_EQ(nats::read_stored(R"({"error":{"err_code":10059}})", "1", "s"), nats::Stored::gone);
    EXPECT_EQ(
        nats::read_stored(R"({"error":{"err_code":10008}})", "1", "s"), nats::Stored::unknown
    );
    EXPECT_EQ(nats::read_stored("{}", "1", "s"), nats::Stored::unknown);
    EXPECT_EQ(nats::read_stored("", "1", "s"), nats::Stored::unknown);
}

// Go writes what a page of HTML might take for its own as \u0026.
TEST(NatsJson, UndoesEscapes) {
    const auto text = [](const std::string& written) {
        const std::string object = R"({"a":")" + written + R"("})";
        return nats::JsonObject::parse(object)->text("a");
    };
    EXPECT_EQ(text("plain ü"), "plain ü");
    EXPECT_EQ(text(R"(a\u0026\u003c\u003Eb)"), "a&<>b");
    EXPECT_EQ(text(R"(\"\\\/\b\f\n\r\t.)"), "\"\\/\b\f\n\r\t.");
    EXPECT_EQ(text(R"(\u00fc\u2028\ud83d\ude00)"), "ü\u2028\U0001F600");
    EXPECT_EQ(text(R"(\\u0026)"), "\\u0026");
    for (const char* junk : {R"(\ud83d)", R"(\ude00)", R"(\u00)", R"(\u+123)", R"(\x)"}) {
        EXPECT_EQ(text(junk), "\uFFFD") << junk;
    }
    EXPECT_EQ(text(R"(\ud83d\u0026)"), "\uFFFD&");
}

TEST(NatsRenewals, ForgetNothingWhenTheyAreMany) {
    nats::Renewals renewals;
    EXPECT_FALSE(renewals.is_overtaken(1, 1));
    renewals.remember(1, 10);
    renewals.remember(1, 8);
    EXPECT_TRUE(renewals.is_overtaken(1, 9));
    EXPECT_FALSE(renewals.is_overtaken(1, 10));
    EXPECT_FALSE(renewals.is_overtaken(2, 9));
    for (std::uint64_t key = 2; key < 30'000; ++key) {
        renewals.remember(static_cast<OrderKey>(key), 10 + key);
    }
    for (OrderKey key = 1; key < 30'000; ++key) ASSERT_TRUE(renewals.is_overtaken(key, 9)) << key;
}

}  // namespace
}  // namespace outrider::live
