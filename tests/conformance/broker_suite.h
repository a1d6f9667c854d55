#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "outrider/testing.h"

#include "core/broker.h"

namespace outrider {

// What a broker needs to be tested: a fresh one, and an independent look at what it got.
class BrokerHarness {
public:
    virtual ~BrokerHarness() = default;
    [[nodiscard]] virtual std::shared_ptr<BrokerDriver> driver() = 0;
    [[nodiscard]] virtual std::vector<testing::Received> received() = 0;

    // Makes it unreachable, and reachable again. Only for those that run through AwaySuite.
    virtual void take_away() {}
    virtual void bring_back() {}
};

struct BrokerParameter {
    std::string name;
    std::function<std::unique_ptr<BrokerHarness>()> make;
};

inline void PrintTo(const BrokerParameter& parameter, std::ostream* out) {
    *out << parameter.name;
}

// The definition of a broker: every test runs over every one.
class BrokerSuite : public ::testing::TestWithParam<BrokerParameter> {
protected:
    BrokerSuite() : harness_(GetParam().make()) {}

    [[nodiscard]] std::unique_ptr<Broker> open();

    // Makes an envelope whose views live as long as the test.
    Envelope envelope(testing::Received message);

    static std::vector<Answer> publish(Broker& broker, std::span<const Envelope> envelopes);

    // What has arrived; in the order of the burst where the broker promises none.
    std::vector<testing::Received> received(
        const Broker& broker,
        const std::vector<Envelope>& burst
    );

    std::unique_ptr<BrokerHarness> harness_;

private:
    std::vector<std::unique_ptr<testing::Received>> kept_;
    std::vector<std::unique_ptr<std::vector<HeaderView>>> kept_headers_;
};

// What holds besides for brokers that can be away. Not for those that live in the process.
class AwaySuite : public BrokerSuite {};

}  // namespace outrider
