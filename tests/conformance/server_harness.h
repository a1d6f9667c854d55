#pragma once

#include <cstdint>
#include <memory>

#include "conformance/broker_suite.h"

namespace outrider {

// A harness for a broker behind a port, which can be killed, and reached by way of another port.
class NetworkHarness : public BrokerHarness {
public:
    [[nodiscard]] virtual std::uint16_t port() const = 0;
    [[nodiscard]] virtual std::shared_ptr<BrokerDriver> driver_at(std::uint16_t port) = 0;

    // Where a gate to it must stand, if it tells its clients where to come; 0: anywhere.
    [[nodiscard]] virtual std::uint16_t gate_port() const { return 0; }

    // Once the server is up again: waits until whoever reads from it is back, too.
    virtual void await_reader() {}

    [[nodiscard]] std::shared_ptr<BrokerDriver> driver() override { return driver_at(port()); }
};

// The same over a server of tests/brokers/support, one for all tests of the binary.
template <class Server>
class ServerHarness : public NetworkHarness {
public:
    explicit ServerHarness(Server& server) : server_(server) {}
    ~ServerHarness() override {
        if (is_away_) server_.start();
    }
    ServerHarness(const ServerHarness&) = delete;
    ServerHarness& operator=(const ServerHarness&) = delete;

    [[nodiscard]] std::uint16_t port() const override { return server_.port(); }
    void take_away() override {
        server_.kill();
        is_away_ = true;
    }
    void bring_back() override {
        server_.start();
        is_away_ = false;
        await_reader();
    }

protected:
    [[nodiscard]] Server& server() const { return server_; }

private:
    Server& server_;
    bool is_away_ = false;
};

struct NetworkParameter {
    std::string name;
    std::function<std::unique_ptr<NetworkHarness>()> make;
};

inline void PrintTo(const NetworkParameter& parameter, std::ostream* out) {
    *out << parameter.name;
}

// A relay, a gate, and a broker behind it. Every test ends with: and everything arrived, in order
// per key, as somebody saw it who is not us.
class GateSuite : public ::testing::TestWithParam<NetworkParameter> {
protected:
    GateSuite() : harness_(GetParam().make()) {}

    std::unique_ptr<NetworkHarness> harness_;
};

}  // namespace outrider

// All suites for one broker behind a port: INSTANTIATE_NETWORK_BROKER(redis, RedisHarness).
// GoogleTest itself has nothing but macros for this.
#define INSTANTIATE_NETWORK_BROKER(broker, Harness)                                              \
    INSTANTIATE_TEST_SUITE_P(                                                                    \
        broker,                                                                                  \
        BrokerSuite,                                                                             \
        ::testing::Values(BrokerParameter{#broker, [] { return std::make_unique<Harness>(); }})  \
    );                                                                                           \
    INSTANTIATE_TEST_SUITE_P(                                                                    \
        broker,                                                                                  \
        AwaySuite,                                                                               \
        ::testing::Values(BrokerParameter{#broker, [] { return std::make_unique<Harness>(); }})  \
    );                                                                                           \
    INSTANTIATE_TEST_SUITE_P(                                                                    \
        broker,                                                                                  \
        GateSuite,                                                                               \
        ::testing::Values(NetworkParameter{#broker, [] { return std::make_unique<Harness>(); }}) \
    )
