#include "brokers/redis/broker.h"
#include "brokers/redis_fixture.h"
#include "conformance/broker_suite.h"

namespace outrider {
namespace {

using testing::Received;

class RedisHarness final : public BrokerHarness {
public:
    RedisHarness() { live::RedisClient(live::redis_server().port()).run({"FLUSHALL"}); }
    ~RedisHarness() override {
        if (away_) live::redis_server().start();
    }
    RedisHarness(const RedisHarness&) = delete;
    RedisHarness& operator=(const RedisHarness&) = delete;

    std::shared_ptr<BrokerDriver> driver() override {
        return make_redis_broker(*parse_redis_url(live::redis_server().url()));
    }
    std::vector<Received> received() override { return live::read_streams(); }
    bool take_away() override {
        live::redis_server().kill();
        away_ = true;
        return true;
    }
    void bring_back() override {
        live::redis_server().start();
        away_ = false;
    }

private:
    bool away_ = false;
};

INSTANTIATE_TEST_SUITE_P(
    Redis,
    BrokerSuite,
    ::testing::Values(BrokerParameter{"redis", [] { return std::make_unique<RedisHarness>(); }}),
    [](const auto& parameters) { return parameters.param.name; }
);

}  // namespace
}  // namespace outrider
