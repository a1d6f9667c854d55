#include "brokers/support/process.h"
#include "conformance/relay_world.h"
#include "conformance/server_harness.h"
#include "support/environment.h"
#include "support/gate.h"

namespace outrider {
namespace {

using live::Gate;
using live::kPatience;
using live::wait_until;

// A relay whose broker is behind a gate.
class World : public live::RelayWorld {
public:
    explicit World(NetworkHarness& harness)
        : World(harness, std::make_unique<Gate>(harness.port(), harness.gate_port())) {}

    Gate& gate() { return *gate_; }

    // Until the relay has noticed it; so many messages are written meanwhile.
    void trouble(void (Gate::*kind)(), int messages) {
        const std::size_t before = await_calm();
        (*gate_.*kind)();
        write(messages);
        await_notice(before);
        gate_->open();
    }

    // The circuit is closed. Returns how many messages were not answered so far.
    [[nodiscard]] std::size_t await_calm() const {
        EXPECT_TRUE(wait_until([&] { return !listener().is_open(); }, kPatience));
        return listener().unanswered();
    }

    // More messages than before the trouble were not answered; or the circuit has opened since,
    // maybe by a late failure of the trouble before that: then the broker is asked nothing more.
    void await_notice(std::size_t before) const {
        const auto has_noticed = [&] {
            return listener().unanswered() > before || listener().is_open();
        };
        EXPECT_TRUE(wait_until(has_noticed, kPatience));
    }

    // And everything arrived, in order per key, at nobody's cost.
    void expect_everything() {
        finish();
        EXPECT_EQ(listener().refused(), 0U);
        live::RelayWorld::expect_everything(harness_.received());
    }

private:
    World(NetworkHarness& harness, std::unique_ptr<Gate> gate)
        : live::RelayWorld(harness.driver_at(gate->port())),
          harness_(harness),
          gate_(std::move(gate)) {}

    NetworkHarness& harness_;
    std::unique_ptr<Gate> gate_;
};

}  // namespace

TEST_P(GateSuite, SurvivesACut) {
    World world(*harness_);
    for (int round = 0; round < 3; ++round) {
        world.write(200);
        world.await_acknowledged(static_cast<std::size_t>(200 * round + 20));
        world.trouble(&Gate::cut, 50);
    }
    world.expect_everything();
}

TEST_P(GateSuite, SurvivesAFreeze) {
    World world(*harness_);
    world.write(200);
    world.await_acknowledged(20);
    world.trouble(&Gate::freeze, 100);
    world.write(100);
    world.expect_everything();
}

TEST_P(GateSuite, SurvivesTheLossOfAnswers) {
    World world(*harness_);
    world.write(200);
    world.await_acknowledged(20);
    world.trouble(&Gate::lose_answers, 100);
    world.write(100);
    world.expect_everything();
}

TEST_P(GateSuite, SurvivesTheLossOfRequests) {
    World world(*harness_);
    world.write(200);
    world.await_acknowledged(20);
    world.trouble(&Gate::lose_requests, 100);
    world.write(100);
    world.expect_everything();
}

TEST_P(GateSuite, SurvivesASlowLink) {
    World world(*harness_);
    world.write(50);
    world.await_acknowledged(20);
    world.gate().slow();
    world.write(50);
    world.await_acknowledged(70);
    world.gate().open();
    world.write(50);
    world.expect_everything();
}

// Odd numbers of bytes: in the middle of a length, a header, a payload.
TEST_P(GateSuite, SurvivesResetsInMidFrame) {
    World world(*harness_);
    for (std::size_t round = 1; round <= 6; ++round) {
        const std::size_t resets = world.gate().resets();
        world.gate().reset_after(3001 * round + round);
        world.write(60);
        EXPECT_TRUE(wait_until([&] { return world.gate().resets() > resets; }, kPatience));
    }
    world.expect_everything();
}

// With kill -9, under load. BROKER_KILLS: how often.
TEST_P(GateSuite, SurvivesKillsOfTheServer) {
    World world(*harness_);
    for (std::uint64_t kill = 0; kill < number_from("BROKER_KILLS", 2); ++kill) {
        const std::size_t before = world.listener().acknowledged();
        world.write(300);
        world.await_acknowledged(before + 20);
        const std::size_t unanswered = world.await_calm();
        harness_->take_away();
        world.gate().cut();  // nobody comes in before the readers are back
        world.write(20);
        world.await_notice(unanswered);
        harness_->bring_back();
        world.gate().open();
    }
    world.expect_everything();
}

}  // namespace outrider
