#include <thread>

#include <gtest/gtest.h>

#include "outrider/error.h"
#include "outrider/producer.h"

#include "brokers/redis/broker.h"
#include "brokers/redis/classify.h"
#include "brokers/redis/server_info.h"
#include "brokers/redis_fixture.h"
#include "brokers/support/complaints.h"
#include "brokers/support/messages.h"

namespace outrider::live {
namespace {

using std::chrono::milliseconds;

// Every test finds an empty server with its settings as they were.
class Redis : public ::testing::Test {
protected:
    Redis() {
        RedisClient client(redis_server().port());
        client.run({"FLUSHALL"});
        for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
                 {"maxmemory", "0"},
                 {"appendfsync", "always"},
                 {"maxmemory-policy", "noeviction"},
                 {"proto-max-bulk-len", "512mb"}}) {
            client.run({"CONFIG", "SET", name, value});
        }
    }

    static std::unique_ptr<Broker> open(const std::string& url) {
        const Result<RedisOptions> options = parse_redis_url(url);
        EXPECT_TRUE(options) << options.error().text;
        return std::move(make_redis_broker(*options)->open()).value();
    }
    static std::unique_ptr<Broker> open_with(const std::string& parameters) {
        return open(redis_server().url() + "?" + parameters);
    }
    static std::unique_ptr<Broker> open() { return open(redis_server().url()); }

    static void command(const std::vector<std::string>& words) {
        RedisClient(redis_server().port()).run(words);
    }
};

std::vector<std::string> payloads(const std::string& stream) {
    std::vector<std::string> found;
    for (const Entry& entry : read_stream(stream)) found.push_back(entry.field("payload"));
    return found;
}

TEST_F(Redis, IsReachedByAProducerWithoutAnOutbox) {
    Producer producer(redis_broker(redis_server().url()));
    Message message;
    message.topic = "temperature";
    message.key = "hall";
    message.payload = "21";
    const Sent sent = producer.send(message);
    EXPECT_TRUE(sent) << sent.answer.reason;
    EXPECT_EQ(payloads("temperature"), std::vector<std::string>{"21"});
    Producer nowhere(redis_broker("redis://127.0.0.1:" + std::to_string(free_port())));
    EXPECT_EQ(nowhere.send(message).answer.verdict, Verdict::unanswered);
    EXPECT_THROW(redis_broker("redis://127.0.0.1?wrong=1"), Failure);
}

TEST_F(Redis, KeepsTheOrderOfAKeyOverManyTransactions) {
    Messages messages;
    for (int i = 0; i < 5500; ++i) messages.add("t", "k", std::to_string(i));
    const auto broker = open();
    EXPECT_TRUE(broker->traits().keeps_order);
    expect_all(publish(*broker, messages));
    const std::vector<std::string> found = payloads("t");
    ASSERT_EQ(found.size(), 5500U);
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], std::to_string(i));
}

TEST_F(Redis, SaysWhatItIs) {
    const auto describe = [](const RedisServer& server = redis_server()) {
        const Result<BrokerFacts> facts =
            open(server.url())->describe(in(std::chrono::seconds(20)));
        EXPECT_TRUE(facts) << facts.error().text;
        EXPECT_TRUE(facts->server.starts_with("Redis ")) << facts->server;
        return facts->durability;
    };
    command({"CONFIG", "SET", "appendfsync", "always"});
    EXPECT_EQ(describe(), "on the disk of the primary");
    command({"CONFIG", "SET", "appendfsync", "everysec"});
    EXPECT_NE(describe().find("on its disk within a second"), std::string::npos) << describe();
    const RedisServer loose({"--appendonly", "no"});
    EXPECT_NE(describe(loose).find("writes nothing to disk"), std::string::npos) << describe(loose);
    loose.set("save", "3600 1");
    EXPECT_NE(describe(loose).find("next snapshot"), std::string::npos) << describe(loose);
}

TEST(RedisServerInfo, SaysWhatIsNotTold) {
    redis::ServerInfo info;
    EXPECT_TRUE(redis::durability_of(info, {}).ends_with("append-only file is not told to this user"
    ));
    info.appendonly = "no";
    EXPECT_TRUE(redis::durability_of(info, {}).ends_with("makes snapshots is not told to this user")
    );
    RedisOptions options;
    options.replicas = 2;
    EXPECT_NE(redis::durability_of(info, options).find("2 replicas"), std::string::npos);
}

TEST_F(Redis, WritesCloudEventsInBinaryMode) {
    testing::Received message;
    message.topic = "orders";
    message.key = "42";
    message.content_type = "application/json";
    message.payload = "{}";
    message.headers = {{"traceparent", "00-ab"}};
    Messages messages;
    const MessageId id = messages.add(message).id;
    expect_all(publish(*open_with("format=cloudevents-binary&source=/shop"), messages));
    const std::vector<Entry> entries = read_stream("orders");
    ASSERT_EQ(entries.size(), 1U);
    EXPECT_EQ(entries[0].field("ce_id"), id.to_string());
    EXPECT_EQ(entries[0].field("ce_source"), "/shop");
    EXPECT_EQ(entries[0].field("ce_type"), "orders");
    EXPECT_EQ(entries[0].field("ce_traceparent"), "00-ab");
    EXPECT_EQ(entries[0].field("content-type"), "application/json");
    EXPECT_EQ(entries[0].field("payload"), "{}");
}

TEST_F(Redis, WritesToTheTargetAndTrimsIt) {
    Messages messages;
    for (int i = 0; i < 3000; ++i) messages.add("orders", std::to_string(i), "x");
    expect_all(publish(*open_with("target=shop:{topic}&maxlen=500"), messages));
    const std::size_t left = payloads("shop:orders").size();
    EXPECT_GE(left, 500U);
    EXPECT_LT(left, 1000U);
}

TEST_F(Redis, RefusesOnlyWhatGoesToAStreamThatIsNone) {
    command({"SET", "bad", "no stream"});
    Messages messages;
    messages.add("good", "a", "1");
    messages.add("bad", "b", "2");
    messages.add("bad", "b", "3");
    messages.add("good", "a", "4");
    const std::vector<Answer> answers = publish(*open(), messages);
    EXPECT_EQ(answers[0].verdict, Verdict::acknowledged);
    EXPECT_EQ(answers[1].verdict, Verdict::refused);
    EXPECT_NE(answers[1].reason.find("WRONGTYPE"), std::string::npos);
    EXPECT_EQ(answers[2].verdict, Verdict::refused);
    EXPECT_EQ(answers[3].verdict, Verdict::acknowledged);
    EXPECT_EQ(payloads("good"), (std::vector<std::string>{"1", "4"}));
}

TEST_F(Redis, RefusesOnlyWhatTheUserMayNotWrite) {
    command({"ACL", "SETUSER", "shop", "on", ">secret", "~good*", "+@all"});
    const auto broker =
        open("redis://shop:secret@127.0.0.1:" + std::to_string(redis_server().port()));
    Messages messages;
    messages.add("good", "a", "1");
    messages.add("denied", "b", "2");
    messages.add("good", "a", "3");
    for (int round = 0; round < 2; ++round) {
        const std::vector<Answer> answers = publish(*broker, messages);
        EXPECT_EQ(answers[0].verdict, Verdict::acknowledged) << answers[0].reason;
        EXPECT_EQ(answers[1].verdict, Verdict::refused);
        EXPECT_NE(answers[1].reason.find("NOPERM"), std::string::npos) << answers[1].reason;
        EXPECT_EQ(answers[2].verdict, Verdict::acknowledged);
    }
    EXPECT_EQ(payloads("good"), (std::vector<std::string>{"1", "3", "1", "3"}));
    command({"ACL", "DELUSER", "shop"});
}

// What shares a key but not a stream must not pass a failure either.
TEST_F(Redis, OffersNothingBehindAFailureOfItsKey) {
    command({"SET", "bad", "no stream"});
    Messages messages;
    for (const char* type : {"good", "bad", "good", "other"}) {
        testing::Received message;
        message.topic = "t";
        message.key = type == std::string("other") ? "2" : "1";
        message.type = type;
        messages.add(std::move(message));
    }
    const std::vector<Answer> answers = publish(*open_with("target={type}"), messages);
    EXPECT_EQ(answers[0].verdict, Verdict::acknowledged);
    EXPECT_EQ(answers[1].verdict, Verdict::refused);
    EXPECT_EQ(answers[2].verdict, Verdict::unanswered);
    EXPECT_NE(answers[2].reason.find("earlier message"), std::string::npos);
    EXPECT_EQ(answers[3].verdict, Verdict::acknowledged);
    EXPECT_EQ(payloads("good").size(), 1U);
}

// Of 3,500 messages of two keys: the 500th fails, by whatever means, while the next thousand waits
// at the server for its EXEC.
class RedisQueued : public Redis {
protected:
    static Messages with_one(const std::string& type, const std::string& payload) {
        Messages messages;
        for (int i = 0; i < 3500; ++i) {
            testing::Received message;
            message.topic = "t";
            message.key = i % 2 == 0 ? "bad" : "good";
            message.type = i == 500 ? type : "stream";
            message.payload = i == 500 ? payload : std::to_string(i);
            messages.add(std::move(message));
        }
        return messages;
    }

    // Everything of the other key has arrived, in order, and of the bad one what came before it.
    static void expect_stopped(const std::vector<Answer>& answers, Verdict verdict) {
        EXPECT_EQ(answers[500].verdict, verdict) << answers[500].reason;
        EXPECT_EQ(answers[3498].verdict, Verdict::unanswered);
        EXPECT_EQ(count(answers, Verdict::acknowledged), 1750U + 250U);
        std::map<std::string, std::vector<std::string>> arrived;
        for (const Entry& entry : read_stream("stream")) {
            arrived[entry.field("outrider-key")].push_back(entry.field("payload"));
        }
        ASSERT_EQ(arrived["bad"].size(), 250U);
        for (std::size_t i = 0; i < 250; ++i) {
            EXPECT_EQ(arrived["bad"][i], std::to_string(2 * i));
        }
        ASSERT_EQ(arrived["good"].size(), 1750U);
        for (std::size_t i = 0; i < 1750; ++i) {
            EXPECT_EQ(arrived["good"][i], std::to_string(2 * i + 1));
        }
    }
};

TEST_F(RedisQueued, StopsTheKeyWhenTheExecutionFails) {
    command({"SET", "string", "no stream"});
    const auto broker = open_with("target={type}");
    expect_stopped(publish(*broker, with_one("string", "x")), Verdict::refused);
    EXPECT_TRUE(broker->ping(in(std::chrono::seconds(5)))) << "the link is in order";
}

TEST_F(RedisQueued, StopsTheKeyWhenTheServerDoesNotQueueIt) {
    command({"ACL", "SETUSER", "shop", "on", ">secret", "~stream", "+@all"});
    const auto broker = open(
        "redis://shop:secret@127.0.0.1:" + std::to_string(redis_server().port()) + "?target={type}"
    );
    expect_stopped(publish(*broker, with_one("denied", "x")), Verdict::refused);
    command({"ACL", "DELUSER", "shop"});
}

TEST_F(RedisQueued, StopsTheKeyWhenTheServerHangsUp) {
    const auto broker = open_with("target={type}");
    EXPECT_TRUE(broker->ping(in(std::chrono::seconds(5))));
    redis_server().set("proto-max-bulk-len", "1mb");
    const std::string large(2U << 20U, 'x');
    expect_stopped(publish(*broker, with_one("stream", large)), Verdict::unacceptable);
}

TEST_F(Redis, FindsAMessageThatIsTooLarge) {
    Messages messages;
    messages.add("t", "a", "1");
    messages.add("t", "b", std::string(2U << 20U, 'x'));
    messages.add("t", "c", "3");
    const auto broker = open();
    EXPECT_TRUE(broker->ping(in(std::chrono::seconds(5))));
    EXPECT_EQ(broker->traits().payload_bytes_max, 0U);
    // Lowered behind our back: the server hangs up in mid-transaction.
    redis_server().set("proto-max-bulk-len", "1mb");
    for (int round = 0; round < 2; ++round) {
        const std::vector<Answer> answers = publish(*broker, messages);
        EXPECT_EQ(answers[0].verdict, Verdict::acknowledged) << answers[0].reason;
        EXPECT_EQ(answers[1].verdict, Verdict::unacceptable) << answers[1].reason;
        EXPECT_EQ(answers[2].verdict, Verdict::acknowledged) << answers[2].reason;
        EXPECT_EQ(broker->traits().payload_bytes_max, 1U << 20U);
    }
    EXPECT_EQ(payloads("t"), (std::vector<std::string>{"1", "3", "1", "3"}));
}

TEST_F(Redis, SurvivesAKillInMidBurst) {
    Messages messages;
    for (int i = 0; i < 60'000; ++i) messages.add("t", "k", std::string(200, 'x'));
    const auto broker = open();
    std::vector<Answer> answers;
    std::jthread publisher([&] { answers = publish(*broker, messages); });
    EXPECT_TRUE(wait_until([] {
        RedisClient client(redis_server().port());
        const auto length = client.ask({"XLEN", "t"});
        return length && length->integer > 2000;
    }));
    redis_server().kill();
    publisher.join();
    const std::size_t acknowledged = count(answers, Verdict::acknowledged);
    EXPECT_GT(acknowledged, 0U);
    EXPECT_LT(acknowledged, answers.size());
    EXPECT_EQ(count(answers, Verdict::unanswered), answers.size() - acknowledged);
    EXPECT_FALSE(answers.back().reason.empty());
    redis_server().start();
    EXPECT_GE(payloads("t").size(), acknowledged);
    expect_all(publish(*broker, one()));
}

TEST_F(Redis, StopsAtTheDeadlineWhenFrozen) {
    const auto broker = open();
    expect_all(publish(*broker, one()));
    redis_server().freeze();
    const MonoTime start = SystemClock().now();
    expect_outage(publish(*broker, one(), milliseconds(300)), "deadline");
    EXPECT_FALSE(broker->ping(in(milliseconds(200))));
    EXPECT_LT(SystemClock().now() - start, std::chrono::seconds(20));
    redis_server().thaw();
    EXPECT_TRUE(broker->ping(in(std::chrono::seconds(10))));
    expect_all(publish(*broker, one()));
}

TEST_F(Redis, ComesBackAfterItsConnectionWasClosed) {
    const auto broker = open();
    expect_all(publish(*broker, one()));
    command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    expect_all(publish(*broker, one()));
}

TEST_F(Redis, TakesAReadOnlyReplicaForAnOutage) {
    const RedisServer second;
    const auto broker = open(second.url());
    expect_all(publish(*broker, one()));
    RedisClient client(second.port());
    client.run({"REPLICAOF", "127.0.0.1", std::to_string(redis_server().port())});
    for (const Answer& answer : publish(*broker, one())) {
        EXPECT_EQ(answer.verdict, Verdict::unanswered);
        EXPECT_FALSE(answer.reason.empty());
    }
    const Result<void> ping = broker->ping(in(std::chrono::seconds(5)));
    ASSERT_FALSE(ping);
    EXPECT_NE(ping.error().text.find("replica"), std::string::npos) << ping.error().text;
    client.run({"REPLICAOF", "NO", "ONE"});
    expect_all(publish(*broker, one()));
}

TEST_F(Redis, SaysThatClustersAreNotSupported) {
    const RedisServer node(
        {"--cluster-enabled", "yes", "--cluster-port", std::to_string(free_port())}
    );
    const Result<void> ping = open(node.url())->ping(in(std::chrono::seconds(5)));
    ASSERT_FALSE(ping);
    EXPECT_EQ(ping.error().remedy, Remedy::correct);
    expect_outage(publish(*open(node.url()), one()), "cluster: these are not supported");
}

TEST_F(Redis, TakesFullMemoryForAnOutage) {
    const auto broker = open();
    expect_all(publish(*broker, one()));
    redis_server().set("maxmemory", "1mb");
    expect_outage(publish(*broker, one()), "OOM");
    expect_outage(publish(*broker, one()), "memory");
    redis_server().set("maxmemory", "0");
    expect_all(publish(*broker, one()));
}

TEST_F(Redis, RefusesToTrustAServerThatEvicts) {
    redis_server().set("maxmemory", "500mb");
    redis_server().set("maxmemory-policy", "allkeys-lru");
    const Result<void> ping = open()->ping(in(std::chrono::seconds(5)));
    ASSERT_FALSE(ping);
    EXPECT_NE(ping.error().text.find("allkeys-lru"), std::string::npos);
    EXPECT_EQ(ping.error().remedy, Remedy::correct);
    expect_outage(publish(*open(), one()), "allkeys-lru");
    const auto trusting = open_with("allow_eviction=true");
    expect_all(publish(*trusting, one()));
    const Result<BrokerFacts> facts = trusting->describe(in(std::chrono::seconds(5)));
    ASSERT_TRUE(facts) << facts.error().text;
    EXPECT_NE(facts->risk.find("allkeys-lru"), std::string::npos) << facts->risk;
    // Streams have no expiry, so this one leaves them alone.
    redis_server().set("maxmemory-policy", "volatile-lru");
    EXPECT_EQ(open()->describe(in(std::chrono::seconds(5)))->risk, "");
}

TEST_F(Redis, CountsTheReplicasThatHaveConfirmed) {
    const auto broker = open_with("replicas=1&wait=200ms");
    expect_outage(publish(*broker, one()), "0 of 1 replicas");
    const RedisServer second({"--replicaof", "127.0.0.1 " + std::to_string(redis_server().port())});
    EXPECT_TRUE(wait_until([&] {
        return publish(*broker, one()).front().verdict == Verdict::acknowledged;
    }));
}

TEST_F(Redis, SyncsBeforeItAnswersOrSaysWhatThatTakes) {
    const RedisClient::Reply info = RedisClient(redis_server().port()).ask({"INFO", "server"});
    if (redis::has_waitaof(redis::parse_info({info->str, info->len}))) {
        expect_all(publish(*open_with("fsync=true"), one()));
        command({"CONFIG", "SET", "appendonly", "no"});
        expect_outage(publish(*open_with("fsync=true"), one()), "appendonly");
        command({"CONFIG", "SET", "appendonly", "yes"});
    } else {
        expect_outage(publish(*open_with("fsync=true"), one()), "needs WAITAOF, that is Redis 7.2");
    }
}

// tests/support/redis_script.py
TEST_F(Redis, CountsWhoHasSynced) {
    const TempFolder folder;
    const auto publish_to = [&](const char* version, const char* synced, const char* replicas) {
        const std::string port = std::to_string(free_port());
        const Process script(
            {{"python3", OUTRIDER_REDIS_SCRIPT, port, version, synced, replicas},
             {},
             folder.file("log")}
        );
        const auto broker = open("redis://127.0.0.1:" + port + "?fsync=true&replicas=1");
        EXPECT_TRUE(wait_until([&] { return broker->ping(in(std::chrono::seconds(5))).has_value(); }
        ));
        return publish(*broker, one());
    };
    expect_all(publish_to("7.2.0", "1", "1"));
    expect_all(publish_to("8.0.1", "1", "2"));
    expect_outage(publish_to("7.4.0", "0", "1"), "has not synced its append-only file");
    expect_outage(publish_to("7.2.0", "1", "0"), "0 of 1 replicas");
}

TEST(RedisServerInfo, KnowsWhoCanSync) {
    const auto can = [](const std::string& version) {
        return redis::has_waitaof(redis::parse_info("redis_version:" + version + "\r\n"));
    };
    EXPECT_TRUE(can("7.2.0"));
    EXPECT_TRUE(can("7.10.1"));
    EXPECT_TRUE(can("8.0.0"));
    EXPECT_FALSE(can("7.0.15"));
    EXPECT_FALSE(can("6.2.14"));
}

TEST_F(Redis, NeverSaysThePassword) {
    const RedisServer guarded({"--requirepass", "opensesame"});
    const std::string place = "@127.0.0.1:" + std::to_string(guarded.port());
    const auto wrong = open("redis://:opensimsim" + place);
    const std::vector<Answer> answers = publish(*wrong, one());
    expect_outage(answers, "WRONGPASS");
    EXPECT_EQ(answers[0].reason.find("opensimsim"), std::string::npos);
    expect_outage(publish(*open(guarded.url()), one()), "NOAUTH");
    expect_all(publish(*open("redis://:opensesame" + place), one()));
    expect_all(publish(*open("redis://default:opensesame" + place + "/3"), one()));
    expect_outage(publish(*open("redis://:opensesame" + place + "/99"), one()), "out of range");
}

TEST(RedisClassify, KnowsWhatIsWhose) {
    const std::vector<std::pair<std::string, Verdict>> rows = {
        {"READONLY You can't write against a read only replica.", Verdict::unanswered},
        {"LOADING Redis is loading the dataset in memory", Verdict::unanswered},
        {"MASTERDOWN Link with MASTER is down", Verdict::unanswered},
        {"OOM command not allowed when used memory > 'maxmemory'.", Verdict::unanswered},
        {"MISCONF Errors writing to the AOF file", Verdict::unanswered},
        {"NOREPLICAS Not enough good replicas to write.", Verdict::unanswered},
        {"BUSY Redis is busy running a script", Verdict::unanswered},
        {"NOAUTH Authentication required.", Verdict::unanswered},
        {"WRONGPASS invalid username-password pair", Verdict::unanswered},
        {"CLUSTERDOWN The cluster is down", Verdict::unanswered},
        {"MOVED 3999 127.0.0.1:6381", Verdict::unanswered},
        {"ASK 3999 127.0.0.1:6381", Verdict::unanswered},
        {"TRYAGAIN Multiple keys request during rehashing of slot", Verdict::unanswered},
        {"CROSSSLOT Keys in request don't hash to the same slot", Verdict::unanswered},
        {"ERR max number of clients reached", Verdict::unanswered},
        {"ERR Protocol error: invalid bulk length", Verdict::unacceptable},
        {"ERR Protocol error: unbalanced quotes in request", Verdict::unanswered},
        {"WRONGTYPE Operation against a key", Verdict::refused},
        {"NOPERM this user has no permissions", Verdict::refused},
        {"ERR unknown command 'XADD'", Verdict::refused},
        {"", Verdict::refused},
    };
    for (const auto& [text, verdict] : rows) EXPECT_EQ(redis::classify(text), verdict) << text;
}

TEST(RedisUrl, ReadsOptions) {
    const Result<RedisOptions> options = parse_redis_url(
        "redis://me:pw@h/2?maxlen=9&replicas=2&wait=1s&target={type}&allow_eviction=true"
    );
    ASSERT_TRUE(options) << options.error().text;
    EXPECT_EQ(options->endpoint.port, 6379);
    EXPECT_EQ(options->user, "me");
    EXPECT_EQ(options->database, 2U);
    EXPECT_EQ(options->maxlen, 9U);
    EXPECT_EQ(options->replicas, 2U);
    EXPECT_EQ(options->wait, std::chrono::seconds(1));
    EXPECT_EQ(options->wire.target, "{type}");
    EXPECT_TRUE(options->allow_eviction);
}

TEST(RedisUrl, SaysWhatItCannotDo) {
    expect_complaints(
        parse_redis_url,
        {{"rediss://h", "no TLS"},
         {"redis://a,b", "one host"},
         {"redis://a/x", "number"},
         {"redis://a?target={x}", "{x}"},
         {"redis://a?nope=1", "unknown parameter nope"}}
    );
}

}  // namespace
}  // namespace outrider::live
