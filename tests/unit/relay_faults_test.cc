#include <algorithm>
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "outrider/observer.h"
#include "outrider/relay.h"

#include "core/clock.h"
#include "core/store.h"
#include "core/store_admin.h"
#include "relay/keeper.h"
#include "support/manual_clock.h"
#include "unit/relay_kit.h"

// What must stop nobody but itself, and must not be repeated for ever.

namespace outrider {
namespace {

using std::chrono::milliseconds;
using testing::Fault;
using testing::MemoryBroker;
using testing::MemoryStore;

// A store that takes no settlement, and nothing else, until it is mended.
class FullDriver final : public StoreDriver {
public:
    explicit FullDriver(std::shared_ptr<StoreDriver> inner) : inner_(std::move(inner)) {}

    class FullStore final : public Store {
    public:
        FullStore(FullDriver& driver, std::unique_ptr<Store> inner)
            : driver_(driver),
              inner_(std::move(inner)) {}
        [[nodiscard]] Result<Batch> claim(const BatchLimits& limits) override {
            return inner_->claim(limits);
        }
        [[nodiscard]] Result<void> settle(Batch batch, std::span<const Settlement> all) override {
            if (Result<void> room = try_writing(); !room) return room;
            return inner_->settle(std::move(batch), all);
        }
        [[nodiscard]] Result<void> try_writing() override {
            ++driver_.tries;
            if (driver_.is_full) return Error{Remedy::wait, "the disk is full"};
            return {};
        }

    private:
        FullDriver& driver_;
        std::unique_ptr<Store> inner_;
    };

    [[nodiscard]] Result<std::unique_ptr<Store>> open(const Destination& destination) override {
        Result<std::unique_ptr<Store>> opened = inner_->open(destination);
        if (!opened) return opened;
        return std::unique_ptr<Store>(std::make_unique<FullStore>(*this, std::move(opened).value())
        );
    }
    [[nodiscard]] Result<std::unique_ptr<StoreAdmin>> open_admin(IfMissing if_missing) override {
        return inner_->open_admin(if_missing);
    }
    [[nodiscard]] std::unique_ptr<Waker> make_waker(Observer& observer) override {
        return inner_->make_waker(observer);
    }

    std::atomic<bool> is_full = true;
    std::atomic<int> tries = 0;

private:
    const std::shared_ptr<StoreDriver> inner_;
};

TEST(Relay, PublishesNothingTwiceWhileTheStoreCannotBeWritten) {
    MemoryStore store;
    const auto full = std::make_shared<FullDriver>(store.driver());
    const MemoryBroker broker;
    RelayOptions options;
    options.reconnect_delay_first = milliseconds(1);
    options.reconnect_delay_max = milliseconds(2);
    Relay relay(full, options);
    relay.add(destination("all"), broker.driver());
    commit(store, {message("t", "k", "1"), message("t", "k", "2"), message("t", "k", "3")});
    relay.start();
    const auto patience = std::chrono::steady_clock::now() + kPatience;
    while (full->tries < 20 && std::chrono::steady_clock::now() < patience) {
        std::this_thread::sleep_for(milliseconds(1));
    }
    EXPECT_GE(full->tries, 20);
    EXPECT_EQ(broker.received().size(), 3U);
    full->is_full = false;
    commit(store, {message("t", "k", "4")});
    ASSERT_TRUE(broker.wait_for(7, kPatience));  // the three once more, and the new one
    relay.stop();
    EXPECT_EQ(broker.received().size(), 7U);
}

TEST(Relay, AMessageThatIsNeverAnsweredStopsNobodyElse) {
    MemoryStore store;
    const MemoryBroker broker;
    const auto rule = [](const Delivery& delivery) {
        return delivery.payload == "poison" ? Fault::lose_message : Fault::none;
    };
    Destination all = destination("all");
    all.retry.attempts_max = 3;
    all.retry.delay_max = milliseconds(20);
    Relay relay(store.driver());
    relay.add(all, testing::faulty_broker(broker.driver(), rule));
    commit(store, {message("t", "bad", "poison"), message("t", "bad", "behind it")});
    relay.start();
    const auto admin = std::move(store.driver()->open_admin(StoreDriver::IfMissing::fail)).value();
    const auto patience = std::chrono::steady_clock::now() + kPatience;
    int position = 0;
    while (admin->dead_letters({})->empty() && std::chrono::steady_clock::now() < patience) {
        commit(store, {message("t", "good", std::to_string(++position))});
        ASSERT_TRUE(broker.wait_for(static_cast<std::size_t>(position), kPatience));
    }
    const auto dead = admin->dead_letters({});
    ASSERT_EQ(dead->size(), 1U);
    EXPECT_EQ(dead->front().attempts, 3U);
    EXPECT_NE(dead->front().error.find("no answer to this message alone"), std::string::npos);
    ASSERT_TRUE(broker.wait_for(static_cast<std::size_t>(position) + 1, kPatience));
    relay.stop();
    const std::vector<testing::Received> received = broker.received();
    EXPECT_EQ(
        std::count_if(
            received.begin(),
            received.end(),
            [](const auto& one) { return one.payload == "behind it"; }
        ),
        1
    );
}

// They come back in turn, so that one of them is always due.
TEST(Relay, SeveralMessagesThatAreNeverAnsweredStopNobodyElse) {
    MemoryStore store;
    const MemoryBroker broker;
    const auto rule = [](const Delivery& delivery) {
        return delivery.payload == "poison" ? Fault::lose_message : Fault::none;
    };
    Destination all = destination("all");
    all.outage_delay_first = all.outage_delay_max = milliseconds(20);
    Relay relay(store.driver());
    relay.add(all, testing::faulty_broker(broker.driver(), rule));
    for (const char* key : {"a", "b", "c"}) commit(store, {message("t", key, "poison")});
    for (int i = 0; i < 20; ++i) commit(store, {message("t", "good", std::to_string(i))});
    relay.start();
    EXPECT_TRUE(broker.wait_for(20, kPatience));
}

// A relay that stands by has asked the broker nothing, and must not say that all is well.
TEST(Keeper, NotesNoCircuitThatNobodyHasTried) {
    MemoryStore store;
    const Destination all = destination("all");
    ASSERT_TRUE(store.driver()->open(all));
    const auto admin = std::move(store.driver()->open_admin(StoreDriver::IfMissing::fail)).value();
    ASSERT_TRUE(admin->note_circuit("all", CircuitState::open, "away"));
    const auto noted = [&] { return admin->backlog({})->destinations.front().circuit; };
    SystemClock clock;
    Observer observer;
    Circuit circuit(all);
    const RelayOptions options;
    const auto driver = store.driver();
    Keeper keeper(*driver, options, clock, observer);
    keeper.watch(all, circuit);
    keeper.step();
    EXPECT_EQ(noted(), CircuitState::open);
    circuit.success();
    keeper.step();
    EXPECT_EQ(noted(), CircuitState::closed);
}

// A relay that had no way to the broker has noted so, and has gone.
TEST(Keeper, NotesAgainWhatAnotherHasNotedOtherwise) {
    MemoryStore store;
    const Destination all = destination("all");
    ASSERT_TRUE(store.driver()->open(all));
    const auto admin = std::move(store.driver()->open_admin(StoreDriver::IfMissing::fail)).value();
    const auto noted = [&] { return admin->backlog({})->destinations.front().circuit; };
    ManualClock clock;
    Observer observer;
    Circuit circuit(all);
    circuit.success();
    const RelayOptions options;
    const auto driver = store.driver();
    Keeper keeper(*driver, options, clock, observer);
    keeper.watch(all, circuit);
    keeper.step();
    ASSERT_TRUE(admin->note_circuit("all", CircuitState::open, "another's"));
    keeper.step();
    EXPECT_EQ(noted(), CircuitState::open) << "it is not asked every time";
    clock.advance(std::chrono::seconds(10));
    keeper.step();
    EXPECT_EQ(noted(), CircuitState::closed);
}

}  // namespace
}  // namespace outrider
