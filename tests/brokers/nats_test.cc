#include <fstream>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "brokers/nats/subject.h"
#include "brokers/nats_fixture.h"
#include "brokers/support/certificates.h"
#include "brokers/support/complaints.h"

namespace outrider::live {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(Nats, PublishesAWholeBurst) {
    Messages messages;
    for (int i = 0; i < 20'000; ++i) messages.add("orders", std::to_string(i), "x");
    const auto broker = open_shop();
    expect_all(publish(*broker, messages));
    EXPECT_EQ(NatsClient(nats_server().url()).count("SHOP"), 20'000U);
    EXPECT_EQ(broker->traits().payload_bytes_max, 1U << 20U);
    EXPECT_TRUE(broker->traits().keeps_order_keys);
    EXPECT_TRUE(broker->traits().drops_duplicates);
}

TEST_F(Nats, SaysWhatItIs) {
    const auto describe = [](const std::string& parameters) {
        const Result<BrokerFacts> facts = open_with(parameters)->describe(in(seconds(20)));
        EXPECT_TRUE(facts) << facts.error().text;
        return *facts;
    };
    const BrokerFacts facts = describe("stream=SHOP");
    EXPECT_TRUE(facts.server.starts_with("NATS 2.")) << facts.server;
    EXPECT_EQ(facts.server.find("without"), std::string::npos) << facts.server;
    EXPECT_NE(facts.durability.find("in a file"), std::string::npos) << facts.durability;
    EXPECT_NE(facts.durability.find("one server"), std::string::npos) << facts.durability;
    EXPECT_NE(describe("stream=NONE").durability.find("not found"), std::string::npos);
    EXPECT_NE(describe("").durability.find("not known"), std::string::npos);
}

TEST_F(Nats, WritesCloudEventsInBinaryMode) {
    testing::Received message;
    message.topic = "orders";
    message.key = "4 2";
    message.content_type = "application/json";
    message.payload = "{}";
    message.headers = {{"traceparent", "00-ab"}};
    Messages messages;
    const MessageId id = messages.add(message).id;
    expect_all(publish(*open_with("format=cloudevents-binary"), messages));
    const auto found = read();
    ASSERT_EQ(found.size(), 1U);
    natsMsg* got = found[0].get();
    EXPECT_EQ(header(got, "ce-id"), id.to_string());
    EXPECT_EQ(header(got, "ce-partitionkey"), "4%202");
    EXPECT_EQ(header(got, "ce-datacontenttype"), "application/json");
    EXPECT_EQ(header(got, "ce-traceparent"), "00-ab");
    EXPECT_EQ(header(got, "traceparent"), "00-ab");
    EXPECT_STREQ(natsMsg_GetSubject(got), "shop.orders");
    EXPECT_EQ(payload(found[0]), "{}");
}

TEST_F(Nats, RefusesWhatNoStreamTakesAndDeliversItLater) {
    Messages messages;
    messages.add("shop.a", "a", "1");
    messages.add("lost.b", "b", "2");
    messages.add("lost.c", "c", "3");
    messages.add("shop.d", "d", "4");
    const auto broker = open(nats_server().url());
    const std::vector<Answer> answers = publish(*broker, messages);
    EXPECT_EQ(answers[0].verdict, Verdict::acknowledged) << answers[0].reason;
    EXPECT_EQ(answers[1].verdict, Verdict::refused);
    EXPECT_NE(answers[1].reason.find("lost.b"), std::string::npos) << answers[1].reason;
    EXPECT_EQ(answers[2].verdict, Verdict::refused);
    EXPECT_EQ(answers[3].verdict, Verdict::acknowledged);
    NatsClient(nats_server().url()).add_stream("LOST", "lost.>");
    expect_all(publish(*broker, messages));
    EXPECT_EQ(NatsClient(nats_server().url()).count("LOST"), 2U);
    EXPECT_EQ(NatsClient(nats_server().url()).count("SHOP"), 2U);
}

TEST_F(Nats, FindsAMessageThatIsTooLarge) {
    NatsClient(nats_server().url()).add_stream("SMALL", "small.>", [](jsStreamConfig& config) {
        config.MaxMsgSize = 1000;
    });
    Messages messages;
    messages.add("shop.a", "a", "1");
    messages.add("shop.b", "b", std::string(1U << 20U, 'x'));  // with its headers: too large
    messages.add("small.c", "c", std::string(2000, 'x'));
    messages.add("shop.d", "d", "4");
    const std::vector<Answer> answers = publish(*open(nats_server().url()), messages);
    EXPECT_EQ(answers[0].verdict, Verdict::acknowledged);
    EXPECT_EQ(answers[1].verdict, Verdict::unacceptable) << answers[1].reason;
    EXPECT_EQ(answers[2].verdict, Verdict::unacceptable) << answers[2].reason;
    EXPECT_EQ(answers[3].verdict, Verdict::acknowledged);
}

TEST_F(Nats, OffersNothingBehindAFailureOfItsKey) {
    NatsClient(nats_server().url()).add_stream("SMALL", "small.>", [](jsStreamConfig& config) {
        config.MaxMsgSize = 1000;
    });
    Messages messages;
    for (int i = 0; i < 3000; ++i) {
        const bool is_bad = i == 1501;
        messages.add("small.x", i % 2 == 0 ? "even" : "odd", std::string(is_bad ? 2000 : 10, 'x'));
    }
    const std::vector<Answer> answers = publish(*open(nats_server().url()), messages, seconds(60));
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const bool is_behind = i % 2 == 1 && i > 1501;
        const Verdict expected = i == 1501   ? Verdict::unacceptable
                                 : is_behind ? Verdict::unanswered
                                             : Verdict::acknowledged;
        ASSERT_EQ(answers[i].verdict, expected) << i << ": " << answers[i].reason;
    }
    EXPECT_NE(answers[1503].reason.find("earlier message of its key"), std::string::npos);
    EXPECT_EQ(NatsClient(nats_server().url()).count("SMALL"), 1500U + 750U);
}

TEST_F(Nats, RefusesWhatAFullStreamRefuses) {
    NatsClient(nats_server().url()).add_stream("FULL", "full.>", [](jsStreamConfig& config) {
        config.MaxMsgs = 2;
        config.Discard = js_DiscardNew;
    });
    Messages messages;
    for (int i = 0; i < 4; ++i) messages.add("full.x", std::to_string(i), "x");
    const std::vector<Answer> answers = publish(*open(nats_server().url()), messages);
    EXPECT_EQ(count(answers, Verdict::acknowledged), 2U);
    EXPECT_EQ(count(answers, Verdict::refused), 2U);
    EXPECT_NE(answers[3].reason.find("maximum messages"), std::string::npos) << answers[3].reason;
}

TEST_F(Nats, RefusesTheWrongStream) {
    const std::vector<Answer> answers = publish(*open_with("stream=OTHER"), one());
    EXPECT_EQ(answers[0].verdict, Verdict::refused);
    EXPECT_TRUE(read().empty());
    expect_all(publish(*open_with("stream=SHOP"), one()));
}

TEST_F(Nats, CarriesAnyTopicInASubject) {
    Messages messages;
    messages.add("a b*c>d%e\tü", "", "1");
    messages.add("a..b", "", "2");
    const std::vector<Answer> answers = publish(*open_shop(), messages);
    EXPECT_EQ(answers[0].verdict, Verdict::acknowledged) << answers[0].reason;
    EXPECT_EQ(answers[1].verdict, Verdict::refused);
    const auto found = read();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_STREQ(natsMsg_GetSubject(found[0].get()), "shop.a%20b%2Ac%3Ed%25e%09ü");
}

// A topic deleted the stream, with the rights of the relay.
TEST_F(Nats, TakesNoTopicForAnOrder) {
    expect_all(publish(*open_shop(), one()));
    NatsClient(nats_server().url()).add_stream("KV_b", "$KV.b.>");
    Messages messages;
    messages.add("$JS.API.STREAM.DELETE.SHOP", "", "");
    messages.add("$SYS.REQ.SERVER.PING", "", "");
    messages.add("_INBOX.x", "", "");
    messages.add("$KV.b.key", "", "value");
    const std::vector<Answer> answers = publish(*open(nats_server().url()), messages);
    for (const std::size_t place : {0U, 1U, 2U}) {
        EXPECT_EQ(answers[place].verdict, Verdict::unacceptable) << answers[place].reason;
        EXPECT_NE(answers[place].reason.find("order"), std::string::npos);
    }
    EXPECT_EQ(answers[3].verdict, Verdict::acknowledged) << answers[3].reason;
    EXPECT_EQ(read().size(), 1U);
}

TEST(NatsSubject, KnowsAnOrder) {
    EXPECT_TRUE(nats::is_order("$JS.ACK.x", ""));
    EXPECT_TRUE(nats::is_order("JS.lent.API.STREAM.DELETE.x", "JS.lent.API"));
    EXPECT_FALSE(nats::is_order("JS.lent.API.STREAM.DELETE.x", ""));
    EXPECT_FALSE(nats::is_order("JS.lent.APIs", "JS.lent.API"));
    EXPECT_FALSE(nats::is_order("$JSON.a", "$JS.API"));
    EXPECT_FALSE(nats::is_order(".a", ""));
    EXPECT_FALSE(nats::is_order("$O.bucket.C.x", "$JS.API"));
}

// On a longer line the server hangs up.
TEST_F(Nats, RefusesASubjectThatFitsIntoNoLine) {
    const auto broker = open_shop();
    const auto verdict_of = [&](std::size_t bytes) {
        Messages messages;
        messages.add("a", "a", "1");
        messages.add(std::string(bytes, 'x'), "b", "2");
        messages.add("c", "c", "3");
        const std::vector<Answer> answers = publish(*broker, messages);
        EXPECT_EQ(answers[0].verdict, Verdict::acknowledged) << bytes << answers[0].reason;
        EXPECT_EQ(answers[2].verdict, Verdict::acknowledged) << bytes << answers[2].reason;
        return answers[1].verdict;
    };
    EXPECT_EQ(verdict_of(3900), Verdict::acknowledged);
    for (std::size_t bytes = 4000; bytes < 4096; ++bytes) {
        EXPECT_NE(verdict_of(bytes), Verdict::unanswered) << bytes;
    }
    EXPECT_EQ(verdict_of(4096), Verdict::refused);
    EXPECT_EQ(verdict_of(100'000), Verdict::refused);
}

TEST_F(Nats, TakesNoHeaderThatWouldBreakTheProtocol) {
    const auto verdict_of = [](Header one) {
        testing::Received message;
        message.topic = "t";
        message.headers = {std::move(one)};
        Messages messages;
        messages.add(std::move(message));
        return publish(*open_shop(), messages).front().verdict;
    };
    EXPECT_EQ(verdict_of({"x", "a\r\nPUB y 0"}), Verdict::unacceptable);
    EXPECT_EQ(verdict_of({"x: y\r\nz", "a"}), Verdict::unacceptable);
    EXPECT_EQ(verdict_of({"nats-rollup", "all"}), Verdict::unacceptable);
    EXPECT_EQ(verdict_of({"x", ""}), Verdict::acknowledged);
}

// failures.md F62: a service answers on the subject.
TEST_F(Nats, TakesNobodyElsesAnswerForAnAcknowledgement) {
    const NatsClient client(nats_server().url());
    natsSubscription* service = nullptr;
    const auto reply_junk =
        [](natsConnection* connection, natsSubscription*, natsMsg* request, void*) {
            natsConnection_PublishString(connection, natsMsg_GetReply(request), "{\"ok\":true}");
            natsMsg_Destroy(request);
        };
    natsConnection_Subscribe(&service, client.get(), "service.x", reply_junk, nullptr);
    natsSubscription* beside = nullptr;
    natsConnection_Subscribe(&beside, client.get(), "shop.x", reply_junk, nullptr);
    natsConnection_Flush(client.get());
    Messages messages;
    messages.add("service.x", "a", "1");
    messages.add("shop.x", "b", "2");
    const auto broker = open(nats_server().url() + "?ack_wait=3s");
    const std::vector<Answer> answers = publish(*broker, messages);
    EXPECT_EQ(answers[0].verdict, Verdict::refused);
    EXPECT_NE(answers[0].reason.find("not JetStream"), std::string::npos) << answers[0].reason;
    EXPECT_EQ(answers[1].verdict, Verdict::acknowledged);
    natsSubscription_Destroy(service);
    natsSubscription_Destroy(beside);
}

TEST_F(Nats, SurvivesAKillInMidBurst) {
    Messages messages;
    for (int i = 0; i < 60'000; ++i) messages.add("t", std::to_string(i), std::string(200, 'x'));
    const auto broker = open_shop();
    std::vector<Answer> answers;
    std::jthread publisher([&] { answers = publish(*broker, messages, seconds(60)); });
    // More than the window holds: some are acknowledged.
    EXPECT_TRUE(wait_until([] { return NatsClient(nats_server().url()).count("SHOP") > 5000; }));
    nats_server().kill();
    publisher.join();
    const std::size_t acknowledged = count(answers, Verdict::acknowledged);
    EXPECT_GT(acknowledged, 0U);
    EXPECT_EQ(count(answers, Verdict::unanswered), answers.size() - acknowledged);
    EXPECT_LT(acknowledged, answers.size());
    EXPECT_FALSE(answers.back().reason.empty());
    nats_server().start();
    EXPECT_GE(NatsClient(nats_server().url()).count("SHOP"), acknowledged);
    expect_all(publish(*broker, one()));
}

TEST_F(Nats, StopsAtTheDeadlineWhenFrozen) {
    Messages many;
    for (int i = 0; i < 500; ++i) many.add("t", std::to_string(i), std::string(20'000, 'x'));
    const auto broker = open_shop();
    expect_all(publish(*broker, one()));
    nats_server().freeze();
    const MonoTime start = SystemClock().now();
    expect_outage(publish(*broker, one(), milliseconds(300)), "");
    EXPECT_LT(SystemClock().now() - start, seconds(20));
    expect_outage(publish(*broker, many, milliseconds(300)), "");
    EXPECT_FALSE(broker->ping(in(milliseconds(200))));
    EXPECT_LT(SystemClock().now() - start, seconds(20));
    nats_server().thaw();
    EXPECT_TRUE(broker->ping(in(seconds(10))));
    expect_all(publish(*broker, one()));
}

TEST_F(Nats, StopsAtTheDeadlineWhenFrozenInMidBurst) {
    Messages many;
    for (int i = 0; i < 2000; ++i) many.add("t", std::to_string(i), std::string(20'000, 'x'));
    const auto broker = open_shop();
    expect_all(publish(*broker, one()));
    std::vector<Answer> answers;
    const MonoTime start = SystemClock().now();
    std::jthread publisher([&] { answers = publish(*broker, many, milliseconds(600)); });
    EXPECT_TRUE(wait_until([] { return NatsClient(nats_server().url()).count("SHOP") > 10; }));
    nats_server().freeze();
    publisher.join();
    EXPECT_LT(SystemClock().now() - start, seconds(20));
    nats_server().thaw();
    expect_all(publish(*broker, one()));
}

TEST_F(Nats, RefusesWhatTheUserMayNotPublish) {
    const NatsServer guarded(kGuarded, kAdmin);
    NatsClient(guarded.url()).add_stream("SHOP", "shop.>");
    NatsClient(guarded.url()).add_stream("ADMIN", "admin.>");
    const auto broker = open(guarded.url("shop:secret@"));
    Messages messages;
    messages.add("shop.a", "a", "1");
    messages.add("admin.b", "b", "2");
    messages.add("shop.c", "c", "3");
    const std::vector<Answer> answers = publish(*broker, messages);
    EXPECT_EQ(answers[0].verdict, Verdict::acknowledged) << answers[0].reason;
    EXPECT_EQ(answers[1].verdict, Verdict::refused) << answers[1].reason;
    EXPECT_NE(answers[1].reason.find("admin.b"), std::string::npos) << answers[1].reason;
    EXPECT_EQ(answers[2].verdict, Verdict::acknowledged);
}

TEST_F(Nats, NeverSaysThePassword) {
    const NatsServer guarded("authorization { user: me, password: opensesame }", "me:opensesame@");
    NatsClient(guarded.url()).add_stream("ALL", "t");
    const std::vector<Answer> answers = publish(*open(guarded.url("me:opensimsim@")), one());
    expect_outage(answers, "uthorization");
    EXPECT_EQ(answers[0].reason.find("opensimsim"), std::string::npos);
    EXPECT_EQ(answers[0].reason.find(".c:"), std::string::npos) << answers[0].reason;
    expect_all(publish(*open(guarded.url()), one()));
}

TEST_F(Nats, LogsInWithAToken) {
    const NatsServer guarded("authorization { token: sesame }", "sesame@");
    NatsClient(guarded.url()).add_stream("ALL", "t");
    expect_all(publish(*open(guarded.url("") + "?token=sesame"), one()));
    expect_outage(publish(*open(guarded.url("")), one()), "uthorization");
}

TEST_F(Nats, LogsInWithACredentialsFile) {
    const TempFolder folder;
    const std::string command =
        "python3 '" OUTRIDER_NATS_ACCOUNT "' '" + folder.path().string() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
    std::stringstream accounts;
    accounts << std::ifstream(folder.file("accounts")).rdbuf();
    const NatsServer guarded(accounts.str(), std::nullopt);
    const std::string creds = folder.file("user.creds");
    NatsClient(guarded.url(), creds).add_stream("ALL", "t");
    const auto broker = open(guarded.url() + "?creds=" + creds);
    std::vector<Answer> answers = publish(*broker, one());
    // See NatsClient: a relay, too, comes in at its next try.
    for (int tries = 0; answers[0].verdict == Verdict::unanswered && tries < 5; ++tries) {
        answers = publish(*broker, one());
    }
    expect_all(answers);
    EXPECT_EQ(NatsClient(guarded.url(), creds).count("ALL"), 1U);
    expect_outage(publish(*open(guarded.url()), one()), "uth");
    const auto blind = open(guarded.url() + "?creds=/does/not/exist");
    expect_outage(publish(*blind, one()), "cannot read creds /does/not/exist: No such file");
}

TEST_F(Nats, TriesEveryServer) {
    const std::string dead = "nats://127.0.0.1:" + std::to_string(free_port());
    const std::string port = std::to_string(nats_server().port());
    expect_all(publish(*open(dead + ",127.0.0.1:" + port + "?target=shop.{topic}"), one()));
}

TEST_F(Nats, SaysWhyThereIsNoConnection) {
    EXPECT_EQ(
        open("nats://127.0.0.1:1")->ping(in(seconds(10))).error().text,
        "cannot connect to 127.0.0.1:1: Connection refused"
    );
}

TEST_F(Nats, VerifiesTheServersCertificate) {
    const Certificates good("IP:127.0.0.1");
    const Certificates other("IP:127.0.0.1");
    const NatsServer guarded(
        "tls { cert_file: \"" + good.certificate() + "\", key_file: \"" + good.key() + "\" }"
    );
    const std::string place = "natss://127.0.0.1:" + std::to_string(guarded.port());
    const auto ping = [&](const std::string& parameters) {
        return open(place + "?" + parameters)->ping(in(seconds(5)));
    };
    EXPECT_TRUE(ping("tls_ca=" + good.authority()));
    EXPECT_FALSE(ping("tls_ca=" + other.authority()));
    EXPECT_FALSE(ping(""));
    EXPECT_FALSE(ping("tls_name=elsewhere&tls_ca=" + good.authority()));
    guarded.freeze();
    const MonoTime start = SystemClock().now();
    EXPECT_FALSE(open(place)->ping(in(milliseconds(300))));
    EXPECT_LT(SystemClock().now() - start, seconds(20));
    guarded.thaw();
}

TEST_F(Nats, ShowsItsOwnCertificate) {
    const Certificates good("IP:127.0.0.1");
    const Certificates other("IP:127.0.0.1");
    const NatsServer guarded(
        "tls { cert_file: \"" + good.certificate() + "\", key_file: \"" + good.key() +
            "\", ca_file: \"" + good.authority() + "\", verify: true }",
        std::nullopt
    );
    const auto ping = [&](const std::string& parameters) {
        const std::string place = "natss://127.0.0.1:" + std::to_string(guarded.port());
        return open(place + "?tls_ca=" + good.authority() + parameters)->ping(in(seconds(10)));
    };
    const auto own = [](const Certificates& from) {
        return "&tls_cert=" + from.certificate() + "&tls_key=" + from.key();
    };
    const Result<void> fine = ping(own(good));
    EXPECT_TRUE(fine) << fine.error().text;
    EXPECT_FALSE(ping(own(other)));
    EXPECT_FALSE(ping(""));
}

TEST_F(Nats, RefusesAServerWithoutTlsWhenItWasAskedFor) {
    const std::string port = std::to_string(nats_server().port());
    EXPECT_FALSE(open("natss://127.0.0.1:" + port)->ping(in(seconds(5))));
}

TEST(NatsUrl, ReadsOptions) {
    const Result<NatsOptions> options =
        parse_nats_url("nats://me:pw@a,b:5000?stream=S&deduplicate=false&ack_wait=2s&api=x");
    ASSERT_TRUE(options) << options.error().text;
    ASSERT_EQ(options->endpoints.size(), 2U);
    EXPECT_EQ(wire::to_string(options->endpoints[0]), "a:4222");
    EXPECT_EQ(wire::to_string(options->endpoints[1]), "b:5000");
    EXPECT_EQ(options->stream, "S");
    EXPECT_EQ(options->api, "x");
    EXPECT_FALSE(options->deduplicate);
    EXPECT_FALSE(options->tls);
    EXPECT_TRUE(parse_nats_url("natss://a")->tls);
}

TEST(NatsUrl, SaysWhatItCannotDo) {
    expect_complaints(
        parse_nats_url,
        {{"nats://a/b", "no path"},
         {"nats://a?token=t&creds=x", "one of them"},
         {"nats://geheim@a", "?token="},
         {"nats://a?tls_cert=x", "belong together"},
         {"nats://a?tls_ca=x", "natss:"},
         {"nats://a?target=x.>", "wildcard"},
         {"nats://a?target=$JS.{topic}", "orders"},
         {"nats://a?ack_wait=0s", "longer"},
         {"nats://a?api=x.>", "wildcard"},
         {"http://a", "nats:"},
         {"tls://a", "nats:"}}
    );
}

}  // namespace
}  // namespace outrider::live
