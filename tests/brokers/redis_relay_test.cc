#include <future>

#include "brokers/redis/broker.h"
#include "brokers/redis/server_info.h"
#include "brokers/redis_fixture.h"
#include "brokers/support/messages.h"
#include "conformance/relay_world.h"

namespace outrider::live {
namespace {

std::shared_ptr<BrokerDriver> driver_of(const RedisServer& server) {
    return make_redis_broker(*parse_redis_url(server.url()));
}

std::string info(const RedisServer& server, const std::string& section) {
    const auto reply = RedisClient(server.port()).ask({"INFO", section});
    return reply ? std::string(reply->str, reply->len) : std::string();
}

bool has(const RedisServer& server, const std::string& line) {
    return info(server, "replication").find(line) != std::string::npos;
}

// Changes the roles without losing a message, and returns when both know.
void hand_over(const RedisServer& from, const RedisServer& to) {
    EXPECT_TRUE(wait_until([&] { return has(from, "state=online"); }));
    RedisClient(from.port()).run({"FAILOVER"});
    EXPECT_TRUE(wait_until([&] { return has(from, "role:slave") && has(to, "role:master"); }));
}

void await_open_circuit(const RelayWorld& world) {
    EXPECT_TRUE(wait_until([&] { return world.listener().is_open(); }, kPatience));
}

void expect_everything(RelayWorld& world, const RedisServer& server) {
    world.finish();
    EXPECT_FALSE(world.listener().is_open());
    EXPECT_EQ(world.listener().refused(), 0U);
    world.expect_everything(read_streams(server));
}

void expect_patience_with_a_replica(const std::string& read_only) {
    const RedisServer primary;
    const std::string place = "127.0.0.1 " + std::to_string(primary.port());
    const RedisServer replica({"--replicaof", place, "--replica-read-only", read_only});
    RelayWorld world(driver_of(replica));
    world.write(100);
    await_open_circuit(world);
    EXPECT_EQ(world.listener().acknowledged(), 0U);
    RedisClient(replica.port()).run({"REPLICAOF", "NO", "ONE"});
    world.write(100);
    expect_everything(world, replica);
}

TEST(RedisRelay, WaitsForAReadOnlyReplicaToBePromoted) {
    expect_patience_with_a_replica("yes");
}

// It would take the messages, and throw them away when it next synchronises with its primary.
TEST(RedisRelay, WaitsForAWritableReplicaToBePromoted) {
    expect_patience_with_a_replica("no");
}

// The server becomes a replica in mid-run, and is the primary again later.
TEST(RedisRelay, SurvivesAFailoverAndItsWayBack) {
    const RedisServer first;
    const RedisServer second({"--replicaof", "127.0.0.1 " + std::to_string(first.port())});
    RelayWorld world(driver_of(first));
    world.write(200);
    world.await_acknowledged(20);
    hand_over(first, second);
    world.write(100);
    await_open_circuit(world);
    hand_over(second, first);
    world.write(100);
    expect_everything(world, first);
}

// Every look whether the outage was over stored another copy.
TEST(RedisRelay, StoresNothingWhileReplicasAreAway) {
    const RedisServer primary;
    RelayWorld world(make_redis_broker(*parse_redis_url(primary.url() + "?replicas=1&wait=30s")));
    world.write(100);
    world.await_unanswered(0);
    await_open_circuit(world);
    EXPECT_TRUE(read_streams(primary).empty());
    const RedisServer replica({"--replicaof", "127.0.0.1 " + std::to_string(primary.port())});
    expect_everything(world, primary);
    EXPECT_EQ(read_streams(primary).size(), 100U);
}

TEST(RedisReplicas, CostOneCopyWhenTheyGoAway) {
    const RedisServer primary;
    RedisServer replica({"--replicaof", "127.0.0.1 " + std::to_string(primary.port())});
    EXPECT_TRUE(wait_until([&] { return has(primary, "state=online"); }));
    const auto options = parse_redis_url(primary.url() + "?replicas=1");
    const auto broker = std::move(make_redis_broker(*options)->open()).value();
    EXPECT_TRUE(broker->ping(in(std::chrono::seconds(20))));
    replica.kill();
    EXPECT_TRUE(wait_until([&] { return has(primary, "connected_slaves:0"); }));
    expect_outage(publish(*broker, one()), "0 of 1 replicas have confirmed");
    EXPECT_FALSE(broker->ping(in(std::chrono::seconds(20))));
    expect_outage(publish(*broker, one()), "0 of 1 replicas are online");
    EXPECT_EQ(read_streams(primary).size(), 1U);
    replica.start();
    EXPECT_TRUE(wait_until([&] { return broker->ping(in(std::chrono::seconds(20))).has_value(); }));
    expect_all(publish(*broker, one()));
    EXPECT_EQ(read_streams(primary).size(), 2U);
}

TEST(RedisReplicas, CountOnlyInGoodHealth) {
    const auto check = [](const std::string& lines, std::uint64_t wanted) {
        RedisOptions options;
        options.replicas = wanted;
        return redis::check_server(redis::parse_info(lines), options).has_value();
    };
    const std::string role = "role:master\r\nconnected_slaves:3\r\nslave_priority:100\r\n";
    const std::string good = "slave0:ip=::1,port=1,state=online,offset=9,lag=1\r\n";
    const std::string young = "slave1:ip=::1,port=2,state=wait_bgsave,offset=0,lag=0\r\n";
    const std::string silent = "slave2:ip=::1,port=3,state=online,offset=9,lag=11\r\n";
    EXPECT_TRUE(check(role, 0));
    EXPECT_FALSE(check(role, 1));
    EXPECT_TRUE(check(role + good + young + silent, 1));
    EXPECT_FALSE(check(role + good + young + silent, 2));
    EXPECT_TRUE(check(role + good + good, 2));
    EXPECT_TRUE(check("redis_version:7.0.0\r\n", 2));  // it would not say
}

TEST(RedisServerInfo, KnowsThatWithoutALogNothingIsSynced) {
    RedisOptions options;
    options.fsync = true;
    const auto check = [&](const std::string& line) {
        return redis::check_server(redis::parse_info("redis_version:7.2.0\r\n" + line), options);
    };
    EXPECT_TRUE(check(""));
    EXPECT_TRUE(check("aof_enabled:1\r\n"));
    ASSERT_FALSE(check("aof_enabled:0\r\n"));
    EXPECT_NE(check("aof_enabled:0\r\n").error().text.find("appendonly yes"), std::string::npos);
}

// Five hundred keys, some milliseconds each: it loads for seconds, and says so to everybody.
TEST(RedisRelay, WaitsWhileTheServerLoads) {
    const RedisServer server(
        {"--enable-debug-command", "yes", "--loading-process-events-interval-bytes", "1024"}
    );
    RedisClient client(server.port());
    client.run({"SELECT", "1"});
    for (int i = 0; i < 500; ++i) {
        client.run({"SET", std::to_string(i), std::string(100, 'x')});
    }
    RelayWorld world(driver_of(server));
    world.write(200);
    world.await_acknowledged(20);
    client.run({"CONFIG", "SET", "key-load-delay", "20000"});
    const auto loaded = std::async(std::launch::async, [&] { client.run({"DEBUG", "RELOAD"}); });
    EXPECT_TRUE(wait_until([&] {
        return info(server, "persistence").find("loading:1") != std::string::npos;
    }));
    world.write(100);
    await_open_circuit(world);
    server.set("key-load-delay", "0");  // seen: the rest at once
    loaded.wait();
    world.write(100);
    expect_everything(world, server);
}

}  // namespace
}  // namespace outrider::live
