#include "outrider/relay.h"

#include <atomic>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "outrider/error.h"
#include "outrider/observer.h"
#include "outrider/sqlite.h"
#include "outrider/sqlite_store.h"
#include "outrider/testing.h"

#include "core/bell.h"
#include "core/store_admin.h"
#include "relay/keeper.h"
#include "support/manual_clock.h"
#include "support/sqlite_session.h"
#include "support/temp_folder.h"
#include "unit/relay_kit.h"

// The embedded relay with its real threads.

namespace outrider {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Fault;
using testing::MemoryBroker;
using testing::MemoryStore;

void expect_order_per_key(const std::vector<testing::Received>& received) {
    std::map<std::string, int> last;
    for (const auto& one : received) {
        const int position = std::stoi(one.payload);
        EXPECT_EQ(position, last[one.key] + 1) << "key " << one.key;
        last[one.key] = position;
    }
}

// Waits for a clean-up that removed something.
class Bin final : public Observer {
public:
    void cleaned_up(std::uint64_t messages) override {
        if (!full_.exchange(true)) removed_.set_value(messages);
    }

    [[nodiscard]] std::uint64_t wait() {
        std::future<std::uint64_t> removed = removed_.get_future();
        return removed.wait_for(kPatience) == std::future_status::ready ? removed.get() : 0;
    }

private:
    std::atomic<bool> full_ = false;
    std::promise<std::uint64_t> removed_;
};

TEST(Relay, DeliversWhatIsCommittedAndNothingElse) {
    MemoryStore store;
    const MemoryBroker broker;
    Relay relay(store.driver());
    relay.add(destination("all"), broker.driver());
    relay.start();
    commit(store, {message("t", "k", "1"), message("t", "k", "2")});
    {
        auto abandoned = store.begin();
        abandoned.enqueue(message("t", "k", "phantom"));
    }
    commit(store, {message("t", "k", "3")});
    ASSERT_TRUE(broker.wait_for(3, kPatience));
    relay.stop();
    EXPECT_EQ(broker.received().size(), 3U);
    expect_order_per_key(broker.received());
}

TEST(Relay, KeepsOrderPerKeyWithManyWorkersAndFaults) {
    MemoryStore store(8);
    const MemoryBroker broker;
    std::mutex mutex;
    SeededDice dice(7);
    const auto rule = [&](const Delivery&) {
        const std::lock_guard lock(mutex);
        if (dice.chance(0.05)) return Fault::refuse;
        return dice.chance(0.005) ? Fault::lose_message : Fault::none;
    };
    Relay relay(store.driver());
    Destination all = destination("all");
    all.workers = 4;
    all.batch.messages = 50;
    relay.add(all, testing::faulty_broker(broker.driver(), rule));
    relay.start();
    constexpr int kKeys = 20;
    constexpr int kEach = 50;
    for (int i = 1; i <= kEach; ++i) {
        std::vector<Message> messages;
        for (int k = 0; k < kKeys; ++k) {
            messages.push_back(message("t", std::to_string(k), std::to_string(i)));
        }
        commit(store, messages);
    }
    ASSERT_TRUE(broker.wait_for(std::size_t{kKeys} * kEach, kPatience));
    relay.stop();
    EXPECT_EQ(broker.received().size(), std::size_t{kKeys} * kEach);
    expect_order_per_key(broker.received());
}

TEST(Relay, ServesSeveralDestinationsByTopic) {
    MemoryStore store;
    const MemoryBroker orders;
    const MemoryBroker everything;
    Relay relay(store.driver());
    Destination some = destination("orders");
    some.topics = {"orders.*"};
    relay.add(some, orders.driver());
    relay.add(destination("everything"), everything.driver());
    relay.start();
    commit(store, {message("orders.placed", "", "1"), message("mail", "", "2")});
    ASSERT_TRUE(orders.wait_for(1, kPatience));
    ASSERT_TRUE(everything.wait_for(2, kPatience));
    relay.stop();
    EXPECT_EQ(orders.received().size(), 1U);
}

TEST(Relay, OneDownBrokerStopsOnlyItsDestination) {
    MemoryStore store;
    const MemoryBroker up;
    const MemoryBroker behind;
    std::atomic<bool> down = true;
    Relay relay(store.driver());
    relay.add(destination("up"), up.driver());
    relay.add(destination("down"), testing::faulty_broker(behind.driver(), [&](const Delivery&) {
                  return down ? Fault::lose_message : Fault::none;
              }));
    relay.start();
    for (int i = 1; i <= 100; ++i) commit(store, {message("t", "k", std::to_string(i))});
    ASSERT_TRUE(up.wait_for(100, kPatience));
    EXPECT_TRUE(behind.received().empty());
    down = false;
    ASSERT_TRUE(behind.wait_for(100, kPatience));
    relay.stop();
    EXPECT_EQ(behind.received().size(), 100U);
    expect_order_per_key(behind.received());
}

TEST(Relay, CallsHandlersByPatternAndTriesAgainWhenTheyThrow) {
    MemoryStore store;
    std::mutex mutex;
    std::vector<std::string> handled;
    std::atomic<int> tries = 0;
    std::atomic<bool> complete = false;
    Relay relay(store.driver());
    relay.on("orders.*", [&](const Delivery& delivery) {
        if (delivery.payload == "1" && ++tries < 2) throw std::runtime_error("not yet");
        const std::lock_guard lock(mutex);
        handled.emplace_back(delivery.payload);
        complete = handled.size() == 2;
    });
    relay.start();
    commit(
        store,
        {message("orders.x", "k", "1"), message("orders.x", "k", "2"), message("no", "k", "3")}
    );
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!complete && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    relay.stop();
    EXPECT_EQ(handled, (std::vector<std::string>{"1", "2"}));
    EXPECT_EQ(tries, 2);
}

TEST(Relay, AHandlerWhosePatternIsNoNameIsGivenOne) {
    MemoryStore store;
    Relay relay(store.driver());
    const std::string patterns[] = {
        "orders/placed", "gr\u00f6\u00dfe", "a b", std::string(61, 'x')};
    std::atomic<int> handled = 0;
    for (const std::string& pattern : patterns) {
        try {
            relay.on(pattern, [](const Delivery&) {});
            FAIL() << pattern;
        } catch (const Failure& failure) {
            EXPECT_EQ(failure.remedy(), Remedy::correct);
            const std::string advice = "on(\"name\", \"" + pattern + "\", handler)";
            EXPECT_NE(std::string(failure.what()).find(advice), std::string::npos)
                << failure.what();
        }
        const std::string name = "handler-" + std::to_string(pattern.size());
        relay.on(name, pattern, [&](const Delivery&) { ++handled; });
        commit(store, {message(pattern, "k", "1")});
    }
    EXPECT_THROW(relay.on("no name", "orders", [](const Delivery&) {}), Failure);
    relay.start();
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (handled < 4 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    relay.stop();
    EXPECT_EQ(handled, 4);
}

// A store that tells nobody of its commits.
class DeafDriver final : public StoreDriver {
public:
    explicit DeafDriver(std::shared_ptr<StoreDriver> inner) : inner_(std::move(inner)) {}

    [[nodiscard]] Result<std::unique_ptr<Store>> open(const Destination& destination) override {
        return inner_->open(destination);
    }
    [[nodiscard]] Result<std::unique_ptr<StoreAdmin>> open_admin(IfMissing if_missing) override {
        return inner_->open_admin(if_missing);
    }
    [[nodiscard]] std::unique_ptr<Waker> make_waker(Observer& /*observer*/) override {
        return std::make_unique<Bell>();
    }

private:
    const std::shared_ptr<StoreDriver> inner_;
};

TEST(Relay, HandlesAtOnceWhatItIsWokenFor) {
    MemoryStore store;
    RelayOptions options;
    options.idle_poll = std::chrono::hours(1);
    Relay relay(std::make_shared<DeafDriver>(store.driver()), options);
    std::atomic<int> handled = 0;
    relay.on("orders.*", [&](const Delivery&) {
        ++handled;
        handled.notify_all();
    });
    relay.wake();  // before it starts: nothing to wake, and no harm
    relay.start();
    for (int i = 0; i < 20; ++i) {
        commit(store, {message("orders.placed", "k", std::to_string(i))});
        relay.wake();
        handled.wait(i);  // for ever, if nobody looks before the hour is over
        EXPECT_EQ(handled, i + 1);
    }
    relay.stop();
    relay.wake();
}

// A store that is away, and calls all the time.
class NervousDriver final : public StoreDriver {
public:
    class Caller final : public Waker {
    public:
        void wait(MonoTime /*until*/) override { std::this_thread::sleep_for(milliseconds(1)); }
        void ring() override {}
    };

    [[nodiscard]] Result<std::unique_ptr<Store>> open(const Destination& /*place*/) override {
        ++opened;
        return Error{Remedy::wait, "away"};
    }
    [[nodiscard]] Result<std::unique_ptr<StoreAdmin>> open_admin(IfMissing /*missing*/) override {
        return Error{Remedy::wait, "away"};
    }
    [[nodiscard]] std::unique_ptr<Waker> make_waker(Observer& /*observer*/) override {
        return std::make_unique<Caller>();
    }

    std::atomic<int> opened = 0;
};

TEST(Relay, TriesAStoreThatIsAwayNoSoonerForBeingWoken) {
    const auto store = std::make_shared<NervousDriver>();
    RelayOptions options;
    options.reconnect_delay_first = milliseconds(40);
    options.reconnect_delay_max = std::chrono::hours(1);
    MemoryBroker broker;
    Relay relay(store, options);
    relay.add(destination("all"), broker.driver());
    const auto start = std::chrono::steady_clock::now();
    relay.start();
    std::this_thread::sleep_for(milliseconds(500));
    while (store->opened < 2 && std::chrono::steady_clock::now() < start + kPatience) {
        std::this_thread::sleep_for(milliseconds(1));
    }
    relay.stop();
    const auto took = std::chrono::steady_clock::now() - start;
    const int opened = store->opened;
    ASSERT_GE(opened, 2);
    // Each wait is twice the last, and at least three quarters of what it says.
    EXPECT_GE(took, milliseconds(30) * ((1 << (opened - 1)) - 1)) << opened;
}

TEST(Relay, GoesCarefullyAfterAnotherEndedWithoutAWord) {
    MemoryStore store;
    std::vector<Message> messages;
    for (int i = 1; i <= 30; ++i) {
        messages.push_back(message("t", std::to_string(i % 3), std::to_string((i + 2) / 3)));
    }
    commit(store, messages);
    Destination all = destination("all");
    {
        ASSERT_TRUE(store.driver()->open(all));
        const auto lost = std::move(store.driver()->open_logbook(all, 1)).value();
        ASSERT_TRUE(lost->enter());
        Page page;
        page.marks = {{7, 2, true}};  // the seventh message, for the third time
        ASSERT_TRUE(lost->write(page));
    }
    all.retry.attempts_max = 1;
    std::mutex mutex;
    std::vector<testing::Received> received;
    Relay relay(store.driver());
    relay.add(all, handler_broker([&](const Delivery& delivery) {
                  const std::lock_guard lock(mutex);
                  received.push_back(
                      {.key = std::string(delivery.key), .payload = std::string(delivery.payload)}
                  );
              }));
    relay.start();
    const auto count = [&] {
        const std::lock_guard lock(mutex);
        return received.size();
    };
    const auto patience = std::chrono::steady_clock::now() + kPatience;
    while (count() < 29 && std::chrono::steady_clock::now() < patience) {
        std::this_thread::sleep_for(milliseconds(1));
    }
    relay.stop();
    EXPECT_EQ(count(), 29U);
    const auto admin = std::move(store.driver()->open_admin(StoreDriver::IfMissing::fail)).value();
    const auto dead = admin->dead_letters({});
    ASSERT_EQ(dead->size(), 1U);
    EXPECT_EQ(dead->front().seq, 7);
    EXPECT_NE(dead->front().error.find("the process ended 3 times"), std::string::npos);
    const auto book = std::move(store.driver()->open_logbook(all, 2)).value();
    const Result<Legacy> legacy = book->enter();
    EXPECT_EQ(legacy->ended, 0U) << "the relay has left in order";
}

TEST(Relay, StopsTwiceAndBeforeItStarts) {
    MemoryStore store;
    const MemoryBroker broker;
    Relay relay(store.driver());
    relay.stop();
    relay.add(destination("all"), broker.driver());
    EXPECT_THROW(relay.add(destination("all"), broker.driver()), Failure);
    EXPECT_THROW(relay.add(destination(""), broker.driver()), Failure);
    relay.start();
    EXPECT_THROW(relay.add(destination("late"), broker.driver()), Failure);
    relay.stop();
    relay.stop();
    commit(store, {message("t", "k", "1")});
    relay.start();
    EXPECT_TRUE(broker.wait_for(1, kPatience));
}

TEST(Relay, AHandlerThatStopsItsOwnRelayIsToldThatItCannot) {
    MemoryStore store;
    std::atomic<int> told = 0;
    Relay relay(store.driver());
    relay.on("*", [&](const Delivery&) {
        try {
            relay.stop();
        } catch (const Failure& failure) {
            told += failure.remedy() == Remedy::correct ? 1 : 0;
        }
    });
    relay.start();
    commit(store, {message("t", "k", "1")});
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (told == 0 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    relay.stop();
    EXPECT_EQ(told, 1);
}

TEST(Relay, DeliversNothingTwiceOverManyOrderlyStops) {
    MemoryStore store(4);
    const MemoryBroker broker;
    std::atomic<bool> writing = true;
    std::jthread writer([&] {
        for (int i = 1; i <= 400; ++i) commit(store, {message("t", "k", std::to_string(i))});
        writing = false;
    });
    while (writing || broker.received().size() < 400) {
        Relay relay(store.driver());
        Destination all = destination("all");
        all.batch.messages = 7;
        relay.add(all, testing::faulty_broker(broker.driver(), [](const Delivery&) {
                      return Fault::none;
                  }));
        relay.start();
        static_cast<void>(broker.wait_for(broker.received().size() + 10, milliseconds(20)));
    }
    EXPECT_EQ(broker.received().size(), 400U);
    expect_order_per_key(broker.received());
}

TEST(Relay, CarriesFromSqliteToAHandlerAndTakesOver) {
    const TempFolder folder;
    const std::string path = folder.file("shop.db");
    const SqliteSession session(path);
    sqlite::migrate(session.get());
    const MemoryBroker broker;
    auto first = std::make_unique<Relay>(sqlite::open_store(path));
    Relay second(sqlite::open_store(path));
    first->add(destination("all"), broker.driver());
    second.add(destination("all"), broker.driver());
    first->start();
    second.start();
    const auto write = [&](int from, int to) {
        for (int i = from; i <= to; ++i) {
            session.run("begin immediate");
            sqlite::enqueue(session.get(), message("t", "k", std::to_string(i)));
            session.run("commit");
        }
    };
    write(1, 50);
    ASSERT_TRUE(broker.wait_for(50, kPatience));
    first.reset();
    write(51, 100);
    ASSERT_TRUE(broker.wait_for(100, kPatience));
    second.stop();
    EXPECT_EQ(broker.received().size(), 100U);
    expect_order_per_key(broker.received());
}

TEST(Relay, WaitsForADatabaseThatIsNotThereYet) {
    const TempFolder folder;
    const std::string path = folder.file("later.db");
    const MemoryBroker broker;
    Relay relay(
        sqlite::open_store(path),
        {.reconnect_delay_first = milliseconds(5), .reconnect_delay_max = milliseconds(20)}
    );
    relay.add(destination("all"), broker.driver());
    relay.start();
    const SqliteSession session(path);
    sqlite::migrate(session.get());
    session.run("insert into outrider_message(topic, payload) values ('t', '1')");
    EXPECT_TRUE(broker.wait_for(1, kPatience));
}

TEST(Relay, CleansUpWhatEverybodyHasPassed) {
    const TempFolder folder;
    const std::string path = folder.file("shop.db");
    const SqliteSession session(path);
    sqlite::migrate(session.get());
    session.run("insert into outrider_message(topic, payload) values ('t', '1')");
    const MemoryBroker broker;
    RelayOptions options;
    options.retention = Duration::zero();
    {
        Relay delivers(sqlite::open_store(path));
        delivers.add(destination("all"), broker.driver());
        delivers.start();
        ASSERT_TRUE(broker.wait_for(1, kPatience));
    }
    // Clean-up comes at the start of a relay and every ten seconds: the first one would find the
    // message not yet delivered.
    const auto bin = std::make_shared<Bin>();
    Relay cleans(sqlite::open_store(path), options, bin);
    cleans.add(destination("all"), broker.driver());
    cleans.start();
    EXPECT_EQ(bin->wait(), 1U);
    EXPECT_EQ(session.value("select count(*) from outrider_message"), "0");
}

TEST(Keeper, RestsWhenTheStoreFailsIt) {
    const TempFolder folder;
    const std::string path = folder.file("shop.db");
    SqliteSession(path).run("create table orders(id)");  // and none of ours
    const auto store = sqlite::open_store(path);
    const RelayOptions options;
    ManualClock clock;
    Observer observer;
    const Destination all = destination("all");
    const Circuit circuit(all);
    Keeper keeper(*store, options, clock, observer);
    keeper.watch(all, circuit);
    EXPECT_GT(keeper.step(), clock.now());
    clock.advance(seconds(30));
    EXPECT_GT(keeper.step(), clock.now());
}

}  // namespace
}  // namespace outrider
