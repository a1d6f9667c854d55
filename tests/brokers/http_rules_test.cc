#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include "outrider/brokers.h"
#include "outrider/error.h"

#include "brokers/http/address.h"
#include "brokers/http/classify.h"
#include "brokers/http/options.h"
#include "brokers/http/signer.h"
#include "brokers/http/writer.h"
#include "brokers/support/complaints.h"

namespace outrider {
namespace {

TEST(HttpBroker, IsMadeFromAUrl) {
    EXPECT_NE(http_broker("https://receiver.example/hook"), nullptr);
    EXPECT_THROW((void)http_broker("https://receiver.example/hook?nonsense=1"), Failure);
}

TEST(HttpClassify, KnowsWhatIsWhose) {
    for (const long status : {200L, 201L, 202L, 204L, 299L}) {
        EXPECT_EQ(http::classify(status), Verdict::acknowledged) << status;
    }
    for (const long status :
         {401L, 402L, 403L, 404L, 407L, 408L, 421L, 423L, 425L, 426L, 429L, 451L, 499L, 500L,
          501L, 502L, 503L, 504L, 599L, 301L, 302L, 304L, 307L, 308L, 100L, 600L, 0L}) {
        EXPECT_EQ(http::classify(status), Verdict::refused) << status;
    }
    for (const long status :
         {400L,
          405L,
          406L,
          409L,
          410L,
          411L,
          412L,
          413L,
          414L,
          415L,
          416L,
          417L,
          418L,
          422L,
          424L,
          428L,
          431L}) {
        EXPECT_EQ(http::classify(status), Verdict::unacceptable) << status;
    }
    for (const long status : {400L, 403L, 404L, 409L, 413L, 422L, 500L, 501L, 507L, 599L}) {
        EXPECT_TRUE(http::concerns_content(status)) << status;
    }
    for (const long status :
         {0L, 200L, 302L, 401L, 402L, 407L, 408L, 421L, 425L, 426L, 429L, 502L, 503L, 504L}) {
        EXPECT_FALSE(http::concerns_content(status)) << status;
    }
    EXPECT_TRUE(http::is_there(204));
    EXPECT_TRUE(http::is_there(501));
    EXPECT_FALSE(http::is_there(503));
    for (const long status : {401L, 407L, 502L, 503L, 504L}) {
        EXPECT_TRUE(http::is_turned_away(status)) << status;
    }
    for (const long status : {0L, 200L, 302L, 400L, 402L, 403L, 404L, 429L, 500L, 501L, 505L}) {
        EXPECT_FALSE(http::is_turned_away(status)) << status;
    }
}

bool is_private(const char* text) {
    sockaddr_storage address{};
    auto* v4 = reinterpret_cast<sockaddr_in*>(&address);
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&address);
    if (::inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
        address.ss_family = AF_INET;
    } else {
        EXPECT_EQ(::inet_pton(AF_INET6, text, &v6->sin6_addr), 1) << text;
        address.ss_family = AF_INET6;
    }
    const auto& any = *reinterpret_cast<const sockaddr*>(&address);
    EXPECT_EQ(http::is_private(any), http::is_private_literal(text)) << text;
    EXPECT_EQ(http::to_text(any), text);
    return http::is_private(any);
}

TEST(HttpAddress, KnowsWhatIsPrivate) {
    for (const char* text :
         {"0.0.0.0",
          "10.0.0.1",
          "100.64.0.1",
          "100.127.255.255",
          "127.0.0.1",
          "127.255.0.1",
          "169.254.169.254",
          "172.16.0.1",
          "172.31.255.255",
          "192.0.0.1",
          "192.168.1.1",
          "198.18.0.1",
          "198.19.255.255",
          "224.0.0.1",
          "239.1.1.1",
          "255.255.255.255",
          "::",
          "::1",
          "fc00::1",
          "fdff::1",
          "fe80::1",
          "febf::1",
          "ff02::1",
          "::ffff:10.0.0.1",
          "::ffff:127.0.0.1",
          "64:ff9b::a00:1",
          "2002:a00:1::",
          "2001:db8::1"}) {
        EXPECT_TRUE(is_private(text)) << text;
    }
    for (const char* text :
         {"1.1.1.1",
          "9.255.255.255",
          "11.0.0.1",
          "100.63.255.255",
          "100.128.0.1",
          "126.0.0.1",
          "128.0.0.1",
          "169.253.0.1",
          "172.15.0.1",
          "172.32.0.1",
          "192.167.0.1",
          "198.17.0.1",
          "198.20.0.1",
          "223.255.255.1",
          "2606:4700::1111",
          "::ffff:1.1.1.1",
          "64:ff9b::101:101",
          "2002:101:101::"}) {
        EXPECT_FALSE(is_private(text)) << text;
    }
    EXPECT_FALSE(http::is_private_literal("localhost"));
    sockaddr strange{};
    strange.sa_family = AF_UNIX;
    EXPECT_TRUE(http::is_private(strange));
}

// The example that the Standard Webhooks libraries test themselves with.
TEST(HttpSigner, SignsTheKnownExample) {
    const Result<http::Signer> signer =
        http::Signer::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    ASSERT_TRUE(signer) << signer.error().text;
    EXPECT_EQ(
        signer->sign("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", "{\"test\": 2432232314}"),
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    );
    EXPECT_FALSE(http::Signer::parse("")->signs());
}

TEST(HttpSigner, TakesNoSecretThatIsNone) {
    for (const char* text :
         {"geheim",
          "whsec_",
          "whsec_geheim!",
          "whsec_AAAA",
          "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
          "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw,whsec_x",
          "whsec_===="}) {
        const Result<http::Signer> signer = http::Signer::parse(text);
        ASSERT_FALSE(signer) << text;
        EXPECT_EQ(signer.error().text.find("geheim"), std::string::npos);
    }
}

TEST(HttpHeader, KnowsWhatOnlyTheRelaySays) {
    EXPECT_TRUE(http::is_reserved("Content-Length"));
    EXPECT_TRUE(http::is_reserved("transfer-encoding"));
    EXPECT_TRUE(http::is_reserved("HOST"));
    EXPECT_FALSE(http::is_reserved("traceparent"));
    EXPECT_TRUE(http::flaw_of(HeaderView{"x", "a\tb \xc3\xbc"}).empty());
    EXPECT_FALSE(http::flaw_of(HeaderView{"", "a"}).empty());
    EXPECT_FALSE(http::flaw_of(HeaderView{"x", "a\nb"}).empty());
}

TEST(HttpUrl, ReadsOptions) {
    const Result<HttpOptions> options = parse_http_url(
        "https://me:pw@h/"
        "a%2Fb?window=4&batch=10&format=cloudevents-structured&timeout=3s&version=1.1"
    );
    ASSERT_TRUE(options) << options.error().text;
    EXPECT_TRUE(options->tls);
    EXPECT_EQ(wire::to_string(options->endpoint), "h:443");
    EXPECT_EQ(options->path, "/a%2Fb");
    EXPECT_EQ(options->user, "me");
    EXPECT_EQ(options->window, 4U);
    EXPECT_EQ(options->batch, 10U);
    EXPECT_EQ(options->timeout, std::chrono::seconds(3));
    EXPECT_EQ(options->version, HttpVersion::one);
    EXPECT_EQ(parse_http_url("http://h")->endpoint.port, 80);
    EXPECT_EQ(parse_http_url("http://h")->path, "/");
    EXPECT_TRUE(parse_http_url("http://h")->wire.target.empty());
}

TEST(HttpUrl, SaysWhatItCannotDo) {
    live::expect_complaints(
        parse_http_url,
        {{"http://127.0.0.1/", "?allow_private=true behind the URL"},
         {"http://[::1]/", "allow_private"},
         {"http://a,b", "one host"},
         {"http://me:pw@a?token=x", "not both"},
         {"http://a?batch=2", "the format cloudevents-structured"},
         {"http://a?batch=2&format=cloudevents-structured&target={key}", "one place"},
         {"http://a?window=0", "window"},
         {"http://a?timeout=0s", "longer"},
         {"http://a?tls_ca=x", "https:"},
         {"https://a?tls_key=x", "belong together"},
         {"http://a/x/../y", "segment"},
         {"http://a/x y", "percent"},
         {"http://a?target=x%23y", "percent"},
         {"http://a?target={x}", "{x}"},
         {"http://a?secret=geheim", "whsec_"},
         {"http://a?token=x%0D%0Ay", "line break"},
         {"ftp://a", "http:"}}
    );
    EXPECT_TRUE(parse_http_url("http://127.0.0.1/?allow_private=true"));
}

}  // namespace
}  // namespace outrider
