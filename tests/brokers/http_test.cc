#include <set>

#include <gtest/gtest.h>

#include "brokers/http/broker.h"
#include "brokers/http_fixture.h"
#include "brokers/support/messages.h"

namespace outrider::live {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(Http, PostsAWholeBurstOverFewConnections) {
    Messages messages;
    for (int i = 0; i < 2000; ++i) messages.add("orders", std::to_string(i), std::to_string(i));
    const auto broker = open_at("hook?window=8");
    expect_all(publish(*broker, messages));
    expect_all(publish(*broker, one()));
    std::set<std::string> bodies;
    std::set<int> peers;
    for (const Posted& posted : http_receiver().posted()) {
        bodies.insert(posted.body);
        peers.insert(posted.peer);
        EXPECT_EQ(posted.path, "/hook");
    }
    EXPECT_EQ(bodies.size(), 2001U);
    EXPECT_LE(peers.size(), 8U);
    EXPECT_FALSE(broker->traits().keeps_order);
}

TEST_F(Http, NamesEveryMessageTheSameOnEveryTry) {
    const Messages messages = one();
    const auto broker = open_at("hook");
    expect_all(publish(*broker, messages));
    expect_all(publish(*broker, messages));
    const std::vector<Posted> posted = http_receiver().posted();
    ASSERT_EQ(posted.size(), 2U);
    const std::string id = messages.envelopes()[0].id.to_string();
    for (const Posted& one : posted) {
        EXPECT_EQ(one.header("Idempotency-Key"), id);
        EXPECT_EQ(one.header("outrider-id"), id);
        EXPECT_EQ(one.header("webhook-id"), "(none)");
        EXPECT_EQ(one.header("Content-Type"), "(none)");
        EXPECT_EQ(one.header("Expect"), "(none)");
        EXPECT_EQ(one.header("User-Agent"), "outrider");
    }
}

Messages order() {
    testing::Received message;
    message.topic = "orders";
    message.key = "4 2";
    message.type = "order.placed";
    message.content_type = "application/json; charset=utf-8";
    message.payload = "{\"a\":1}";
    message.headers = {{"traceparent", "00-ab-cd-01"}, {"x-empty", ""}, {"x-blank", " \t "}};
    Messages messages;
    messages.add(message);
    return messages;
}

TEST_F(Http, SaysWhatItIs) {
    const Result<BrokerFacts> facts = open_at("hook")->describe(in(std::chrono::seconds(20)));
    ASSERT_TRUE(facts) << facts.error().text;
    EXPECT_TRUE(facts->server.starts_with("BaseHTTP/")) << facts->server;
    EXPECT_TRUE(facts->server.ends_with(", HTTP/1")) << facts->server;
    EXPECT_NE(facts->durability.find("2xx"), std::string::npos) << facts->durability;
    EXPECT_TRUE(http_receiver().posted().empty());
}

TEST_F(Http, WritesCloudEventsInBinaryMode) {
    const Messages messages = order();
    expect_all(publish(*open_at("hook?format=cloudevents-binary&source=/shop"), messages));
    const std::vector<Posted> posted = http_receiver().posted();
    ASSERT_EQ(posted.size(), 1U);
    EXPECT_EQ(posted[0].header("ce-specversion"), "1.0");
    EXPECT_EQ(posted[0].header("ce-id"), messages.envelopes()[0].id.to_string());
    EXPECT_EQ(posted[0].header("ce-source"), "/shop");
    EXPECT_EQ(posted[0].header("ce-type"), "order.placed");
    EXPECT_EQ(posted[0].header("ce-partitionkey"), "4%202");
    EXPECT_EQ(posted[0].header("ce-traceparent"), "00-ab-cd-01");
    EXPECT_EQ(posted[0].header("ce-datacontenttype"), "(none)");
    EXPECT_EQ(posted[0].header("Content-Type"), "application/json; charset=utf-8");
    EXPECT_EQ(posted[0].header("traceparent"), "00-ab-cd-01");
    EXPECT_EQ(posted[0].header("x-empty"), "");
    EXPECT_EQ(posted[0].header("x-blank"), "");
    EXPECT_EQ(posted[0].body, "{\"a\":1}");
}

TEST_F(Http, WritesCloudEventsInStructuredMode) {
    const Messages messages = order();
    expect_all(publish(*open_at("hook?format=cloudevents-structured"), messages));
    const std::vector<Posted> posted = http_receiver().posted();
    ASSERT_EQ(posted.size(), 1U);
    EXPECT_EQ(posted[0].header("Content-Type"), "application/cloudevents+json");
    const auto event = nlohmann::json::parse(posted[0].body);
    EXPECT_EQ(event.at("id"), messages.envelopes()[0].id.to_string());
    EXPECT_EQ(event.at("traceparent"), "00-ab-cd-01");
    EXPECT_EQ(event.at("data").at("a"), 1);
    EXPECT_EQ(posted[0].header("traceparent"), "00-ab-cd-01");
}

TEST_F(Http, PostsBatches) {
    Messages messages;
    for (int i = 0; i < 25; ++i) messages.add("t", std::to_string(i), std::to_string(i));
    expect_all(publish(*open_at("hook?format=cloudevents-structured&batch=10"), messages));
    std::vector<std::size_t> sizes;
    std::set<std::string> ids;
    std::set<std::string> names;
    for (const Posted& posted : http_receiver().posted()) {
        EXPECT_EQ(posted.header("Content-Type"), "application/cloudevents-batch+json");
        const auto events = nlohmann::json::parse(posted.body);
        sizes.push_back(events.size());
        for (const auto& event : events) ids.insert(event.at("id"));
        names.insert(posted.header("Idempotency-Key"));
    }
    std::sort(sizes.begin(), sizes.end());
    EXPECT_EQ(sizes, (std::vector<std::size_t>{5, 10, 10}));
    EXPECT_EQ(ids.size(), 25U);
    EXPECT_EQ(names.size(), 3U);
}

// Messages of which those at these places are "poison".
Messages with_poison(std::size_t count, const std::set<std::size_t>& places) {
    Messages messages;
    for (std::size_t i = 0; i < count; ++i) {
        const char* text = places.contains(i) ? "poison" : "good";
        messages.add("t", std::to_string(i), text).content_type = "text/plain";
    }
    return messages;
}

constexpr const char* kBatches = "&format=cloudevents-structured&batch=100";

TEST_F(Http, FindsTheBadMessageOfABatch) {
    const auto broker = open_at(std::string("?target=picky") + kBatches);
    const std::vector<Answer> answers = publish(*broker, with_poison(200, {13}));
    EXPECT_EQ(answers[13].verdict, Verdict::unacceptable);
    EXPECT_NE(answers[13].reason.find("415"), std::string::npos) << answers[13].reason;
    EXPECT_EQ(count(answers, Verdict::acknowledged), 199U);
}

TEST_F(Http, ChargesNobodyForARefusedNeighbour) {
    const std::vector<std::set<std::size_t>> cases = {
        {0}, {99}, {13}, {0, 1}, {0, 99}, {3, 30, 60, 90}, {3, 103}};
    for (const std::set<std::size_t>& bad : cases) {
        for (const char* status : {"500", "403", "599"}) {
            http_receiver().forget();
            const std::string target = std::string("?target=picky%3Fstatus=") + status;
            const std::vector<Answer> answers =
                publish(*open_at(target + kBatches), with_poison(200, bad));
            for (std::size_t i = 0; i < answers.size(); ++i) {
                const bool is_bad = bad.contains(i);
                EXPECT_EQ(answers[i].verdict, is_bad ? Verdict::refused : Verdict::acknowledged);
            }
            EXPECT_LE(http_receiver().posted().size(), 2 + 14 * bad.size()) << status;
        }
    }
}

// A receiver that refuses everything is not asked about every single message.
TEST_F(Http, SparesAReceiverThatRefusesEverything) {
    const auto requests_of = [](const char* status, Verdict verdict) {
        http_receiver().forget();
        const std::string target = std::string("?target=status/") + status;
        const std::vector<Answer> answers =
            publish(*open_at(target + kBatches), with_poison(500, {}));
        EXPECT_EQ(count(answers, verdict), 500U);
        for (const Answer& answer : answers) {
            EXPECT_NE(answer.reason.find(status), std::string::npos) << answer.reason;
        }
        return http_receiver().posted().size();
    };
    EXPECT_EQ(requests_of("503", Verdict::unanswered), 5U);
    EXPECT_EQ(requests_of("429", Verdict::refused), 5U);
    EXPECT_EQ(requests_of("401", Verdict::unanswered), 5U);
    EXPECT_LE(requests_of("500", Verdict::refused), 5U + 14U);
}

// A search that is not finished has found nobody guilty.
TEST_F(Http, ChargesNobodyWhereTheSearchIsCutOff) {
    const auto broker = open_at(std::string("?target=refuses-once") + kBatches);
    expect_outage(publish(*broker, with_poison(100, {})), "cannot post");
}

TEST_F(Http, PostsToTheTarget) {
    testing::Received message;
    message.topic = "a/b ü";
    message.key = "..";
    Messages messages;
    messages.add(message);
    expect_all(publish(*open_at("hook?target={topic}/x%3Fkey={key}"), messages));
    const std::vector<Answer> answers = publish(*open_at("hook?target={key}/x"), messages);
    EXPECT_EQ(answers[0].verdict, Verdict::refused);
    EXPECT_NE(answers[0].reason.find("segment"), std::string::npos) << answers[0].reason;
    const std::vector<Posted> posted = http_receiver().posted();
    ASSERT_EQ(posted.size(), 1U);
    EXPECT_EQ(posted[0].path, "/hook/a%2Fb%20%C3%BC/x?key=..");
}

TEST_F(Http, AnswersEveryStatusByTheTable) {
    Messages messages;
    for (int status = 200; status < 600; ++status) {
        messages.add(std::to_string(status), std::to_string(status), "x");
    }
    const std::vector<Answer> answers = publish(*open_at("?target=status/{topic}"), messages);
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const long status = 200 + static_cast<long>(i);
        EXPECT_EQ(answers[i].verdict, http::classify(status)) << status << answers[i].reason;
        EXPECT_NE(answers[i].verdict, Verdict::unanswered) << status << answers[i].reason;
        EXPECT_FALSE(answers[i].retry_after) << status;
    }
    EXPECT_EQ(answers[503 - 200].reason, "the receiver said 503: because");
}

TEST_F(Http, CarriesTheReceiversWaitAlong) {
    const auto wait_of = [](const std::string& value) {
        const std::string target = "status/429%3Fretry_after=" + value;
        return publish(*open_at("?target=" + target), one())[0].retry_after;
    };
    // Encoded twice: for the option, and for the request.
    const auto new_year = [](const std::string& year) {
        return "Wed,%252001%2520Jan%2520" + year + "%252000:00:00%2520GMT";
    };
    EXPECT_EQ(wait_of("7"), seconds(7));
    EXPECT_EQ(wait_of("0"), std::nullopt);
    EXPECT_EQ(wait_of("nonsense"), std::nullopt);
    EXPECT_EQ(wait_of(new_year("2020")), std::nullopt);
    const std::optional<Duration> far =
        wait_of("Wed,%252001%2520Jan%25202120%252000:00:00%2520GMT");
    ASSERT_TRUE(far);
    EXPECT_GT(*far, seconds(1000));
    EXPECT_EQ(wait_of("9999999999"), std::chrono::hours(24));
    EXPECT_EQ(wait_of("99999999999999999999999"), std::chrono::hours(24));
    EXPECT_EQ(wait_of("-99999999999999999999999"), std::nullopt);
    EXPECT_EQ(wait_of("-5"), std::nullopt);
}

TEST_F(Http, FollowsNoRedirection) {
    EXPECT_EQ(publish(*open_at("redirect"), one())[0].verdict, Verdict::refused);
    const std::vector<Posted> posted = http_receiver().posted();
    ASSERT_EQ(posted.size(), 1U);
    EXPECT_EQ(posted[0].path, "/redirect");
}

TEST_F(Http, LeavesUnansweredWhatHadNoWholeAnswer) {
    for (const char* path :
         {"early-close", "cut-status", "cut-head", "hints-only", "cut-body", "broken"}) {
        expect_outage(publish(*open_at(path), one()), "cannot post");
    }
    expect_outage(publish(*open_at("slow-headers?timeout=500ms"), one()), "cannot");
    expect_outage(publish(*open_at("slow-headers"), one(), milliseconds(500)), "");
    expect_all(publish(*open_at("hook"), one()));
    expect_all(publish(*open_at("hints"), one()));
}

TEST_F(Http, ReadsNoEndlessAnswer) {
    const auto broker = open_at("endless-body");
    expect_all(publish(*broker, one()));
    expect_all(publish(*broker, one()));
}

// Otherwise the message would be posted again and again, to somebody who has taken it.
TEST_F(Http, CountsTheStatusOfAnAnswerThatTakesTooLong) {
    for (const char* path : {"stalled-body", "dripping-body"}) {
        expect_all(publish(*open_at(std::string(path) + "?timeout=3s"), one()));
        // The turn ends before the request may.
        expect_all(publish(*open_at(path), one(), seconds(3)));
    }
    const auto broker = open_at("?timeout=3s&target=dripping-body%3Fstatus=500");
    EXPECT_EQ(publish(*broker, one())[0].verdict, Verdict::refused);
    EXPECT_EQ(http_receiver().posted().size(), 5U);
}

TEST_F(Http, BeginsNothingBehindAnOutage) {
    Messages messages;
    for (int i = 0; i < 500; ++i) messages.add("t", std::to_string(i), "x");
    expect_outage(publish(*open_at("slow-headers?timeout=1s&window=4"), messages), "cannot");
    EXPECT_LE(http_receiver().posted().size(), 4U);
}

TEST_F(Http, SignsAsStandardWebhooksSays) {
    const Messages messages = one("the body");
    const std::string old = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const std::string next = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    expect_all(publish(*open_at("hook?secret=" + next + "," + old), messages));
    const std::vector<Posted> posted = http_receiver().posted();
    ASSERT_EQ(posted.size(), 1U);
    const std::string id = posted[0].header("webhook-id");
    const std::string timestamp = posted[0].header("webhook-timestamp");
    EXPECT_EQ(id, messages.envelopes()[0].id.to_string());
    const long long age = to_millis(SystemClock().wall()) / 1000 - std::stoll(timestamp);
    EXPECT_GE(age, 0);
    EXPECT_LT(age, 60);
    const std::string content = id + "." + timestamp + ".the body";
    EXPECT_EQ(
        posted[0].header("webhook-signature"),
        "v1," + openssl_hmac(next, content) + " v1," + openssl_hmac(old, content)
    );
}

TEST_F(Http, LogsIn) {
    expect_all(
        publish(*open("http://me:open%20sesame@" + place() + "/hook?allow_private=true"), one())
    );
    expect_all(publish(*open_at("hook?token=sesame"), one()));
    const std::vector<Posted> posted = http_receiver().posted();
    EXPECT_EQ(posted.at(0).header("Authorization"), "Basic bWU6b3BlbiBzZXNhbWU=");
    EXPECT_EQ(posted.at(1).header("Authorization"), "Bearer sesame");
}

TEST_F(Http, NeverSaysTheLoginThatAReceiverEchoes) {
    const std::string token = "&token=" + std::string(300, 'T');
    const std::string password = "opensesame";
    const auto reason_of = [](const std::string& login, const std::string& query) {
        const std::string url = "http://" + login + place() + "/?allow_private=true";
        return publish(*open(url + query), one())[0].reason;
    };
    // Also where the excerpt ends in the middle of it.
    for (int letters = 0; letters < 300; letters += 23) {
        const std::string target = "&target=echo%3Fletters=" + std::to_string(letters);
        const std::string bearer = reason_of("", token + target);
        EXPECT_EQ(bearer.find("TTTT"), std::string::npos) << bearer;
        const std::string basic = reason_of("me:" + password + "@", target);
        EXPECT_EQ(basic.find("open"), std::string::npos) << basic;
        EXPECT_EQ(basic.find("bWU6"), std::string::npos) << basic;
        const std::string key = reason_of("sk_hunter2@", target);
        EXPECT_EQ(key.find("sk_h"), std::string::npos) << key;
        EXPECT_LT(key.size(), 300U);
    }
    EXPECT_EQ(
        reason_of("me:" + password + "@", "&target=echo"),
        "the receiver said 400:  Basic *** me : ***  Basic ***"
    );
}

TEST_F(Http, TakesNoHeaderThatWouldBreakTheProtocol) {
    const auto verdict_of = [](Header header) {
        testing::Received message;
        message.topic = "t";
        message.headers = {std::move(header)};
        Messages messages;
        messages.add(std::move(message));
        return publish(*open_at("hook"), messages)[0].verdict;
    };
    EXPECT_EQ(verdict_of({"x", "a\r\nContent-Length: 0"}), Verdict::unacceptable);
    EXPECT_EQ(verdict_of({"x", std::string("a\0b", 3)}), Verdict::unacceptable);
    EXPECT_EQ(verdict_of({"x: y\r\nz", "a"}), Verdict::unacceptable);
    EXPECT_EQ(verdict_of({"a b", "a"}), Verdict::unacceptable);
    EXPECT_TRUE(http_receiver().posted().empty());
    // Not ours to break, but not the message's to say either.
    EXPECT_EQ(verdict_of({"content-length", "7"}), Verdict::acknowledged);
    EXPECT_EQ(verdict_of({"Host", "elsewhere"}), Verdict::acknowledged);
    EXPECT_EQ(verdict_of({"webhook-id", "1"}), Verdict::acknowledged);
    for (const Posted& posted : http_receiver().posted()) {
        EXPECT_EQ(posted.header("Content-Length"), "0");
        EXPECT_EQ(posted.header("Host"), place());
        EXPECT_EQ(posted.header("webhook-id"), "(none)");
    }
}

// The name is harmless, what it means is not: the address that is connected to counts.
TEST_F(Http, PostsToNoPrivateAddressUnlessAllowed) {
    const std::string url = "http://localhost:" + std::to_string(http_receiver().port()) + "/hook";
    expect_outage(
        publish(*open(url), one()), "is private: write ?allow_private=true behind the URL"
    );
    EXPECT_FALSE(open(url)->ping(in(seconds(5))));
    EXPECT_TRUE(http_receiver().posted().empty());
    expect_all(publish(*open(url + "?allow_private=true"), one()));
}

TEST_F(Http, StopsAtTheDeadlineWhenFrozen) {
    const auto broker = open_at("hook");
    expect_all(publish(*broker, one()));
    http_receiver().freeze();
    const MonoTime start = SystemClock().now();
    expect_outage(publish(*broker, one(), milliseconds(300)), "");
    EXPECT_FALSE(broker->ping(in(milliseconds(200))));
    EXPECT_LT(SystemClock().now() - start, seconds(20));
    http_receiver().thaw();
    EXPECT_TRUE(broker->ping(in(seconds(30))));
    expect_all(publish(*broker, one()));
}

TEST_F(Http, ComesBackAfterItsConnectionsWereClosed) {
    const auto broker = open_at("hook");
    expect_all(publish(*broker, one()));
    http_receiver().kill();
    http_receiver().start();
    expect_all(publish(*broker, one()));
}

TEST_F(Http, VerifiesTheReceiversCertificate) {
    const Certificates good("IP:127.0.0.1");
    const Certificates other("IP:127.0.0.1");
    const Certificates misnamed("DNS:elsewhere");
    const HttpReceiver receiver(&good);
    const auto post = [](const HttpReceiver& to, const std::string& parameters) {
        return publish(
            *open(
                "https://127.0.0.1:" + std::to_string(to.port()) + "/?allow_private=true" +
                parameters
            ),
            one()
        );
    };
    expect_all(post(receiver, "&tls_ca=" + good.authority()));
    expect_outage(post(receiver, "&tls_ca=" + other.authority()), "certificate");
    expect_outage(post(receiver, ""), "certificate");
    expect_outage(post(receiver, "&tls_ca=/does/not/exist"), "cannot post");
    EXPECT_EQ(receiver.posted().size(), 1U);
    const HttpReceiver stranger(&misnamed);
    expect_outage(post(stranger, "&tls_ca=" + misnamed.authority()), "name");
    const HttpReceiver strict(&good, other.authority());
    const std::string ours = "&tls_cert=" + other.certificate() + "&tls_key=" + other.key();
    expect_all(post(strict, "&tls_ca=" + good.authority() + ours));
    expect_outage(post(strict, "&tls_ca=" + good.authority()), "cannot post");
}

Messages with_headers(std::size_t count, std::size_t bytes) {
    testing::Received message;
    message.topic = "t";
    for (std::size_t i = 0; i < count; ++i) {
        message.headers.push_back({"x-" + std::to_string(i), std::string(bytes, 'x')});
    }
    Messages messages;
    messages.add(std::move(message));
    messages.add("t", "k", "fine");
    return messages;
}

// The library would break the connection over them, and with it everything else.
TEST_F(Http, TakesNoMoreHeadersThanHttp2Carries) {
    const Certificates certificates("IP:127.0.0.1");
    const Nghttpd server(certificates);
    const auto broker = open(
        "https://127.0.0.1:" + std::to_string(server.port()) +
        "/hook?allow_private=true&tls_ca=" + certificates.authority()
    );
    expect_all(publish(*broker, with_headers(7, 8000)));
    expect_all(publish(*broker, with_headers(1, 58'000)));
    for (const auto& [count, bytes] : {std::pair(10, 8000), std::pair(1, 66'000), {4000, 1}}) {
        const std::vector<Answer> answers = publish(*broker, with_headers(count, bytes));
        EXPECT_EQ(answers[0].verdict, Verdict::unacceptable) << answers[0].reason;
        EXPECT_NE(answers[0].reason.find("HTTP/2"), std::string::npos) << answers[0].reason;
        EXPECT_EQ(answers[1].verdict, Verdict::acknowledged) << answers[1].reason;
    }
    // Where nobody speaks HTTP/2 there is no such limit of ours.
    expect_all(publish(*open_at("hook"), with_headers(10, 8000)));
}

// nghttpd knows nothing but HTTP/2, and prints what it receives.
TEST_F(Http, SpeaksHttp2) {
    const Certificates certificates("IP:127.0.0.1");
    const Nghttpd server(certificates);
    const std::string port = std::to_string(server.port());
    Messages messages;
    for (int i = 0; i < 200; ++i) messages.add("t", std::to_string(i), "x");
    const auto broker = open(
        "https://127.0.0.1:" + port + "/hook?allow_private=true&tls_ca=" + certificates.authority()
    );
    expect_all(publish(*broker, messages));
    for (const Envelope& envelope : messages.envelopes()) {
        const std::string line = "outrider-id: " + envelope.id.to_string();
        EXPECT_TRUE(wait_until([&] { return server.printed(line) == 1; })) << line;
    }
    EXPECT_TRUE(broker->describe(in(std::chrono::seconds(20)))->server.ends_with(", HTTP/2"));
    // All over one connection.
    EXPECT_EQ(server.printed("recv SETTINGS frame <length=0, flags=0x01"), 1U);
    expect_outage(
        publish(
            *open(
                "https://127.0.0.1:" + port +
                "/hook?allow_private=true&version=1.1&tls_ca=" + certificates.authority()
            ),
            one()
        ),
        "cannot post"
    );
}

}  // namespace
}  // namespace outrider::live
