#include "brokers/redis/broker.h"
#include "brokers/redis_fixture.h"
#include "conformance/server_harness.h"

namespace outrider {
namespace {

using testing::Received;

class RedisHarness final : public ServerHarness<live::RedisServer> {
public:
    RedisHarness() : ServerHarness(live::redis_server()) {
        live::RedisClient(port()).run({"FLUSHALL"});
        live::redis_server().set("appendfsync", "always");
    }

    std::shared_ptr<BrokerDriver> driver_at(std::uint16_t port) override {
        return make_redis_broker(*parse_redis_url("redis://127.0.0.1:" + std::to_string(port)));
    }
    std::vector<Received> received() override { return live::read_streams(); }
};

INSTANTIATE_NETWORK_BROKER(redis, RedisHarness);

}  // namespace
}  // namespace outrider
