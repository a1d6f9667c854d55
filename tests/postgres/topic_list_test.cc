#include <atomic>
#include <future>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "outrider/relay.h"

#include "postgres/log.h"
#include "postgres/short_cut.h"

// A destination's list of topics lives in the database: a rolling deployment passes over no row.

namespace outrider {
namespace {

using Payloads = std::vector<std::string>;

Destination taking(std::vector<std::string> topics) {
    Destination destination = everything();
    destination.topics = std::move(topics);
    destination.workers = 2;
    return destination;
}

// What arrives, from any relay.
class Inbox {
public:
    [[nodiscard]] std::shared_ptr<BrokerDriver> broker() {
        return handler_broker([this](const Delivery& delivery) {
            const std::lock_guard lock(mutex_);
            seen_.emplace(delivery.payload);
        });
    }

    [[nodiscard]] bool has(const std::set<std::string>& payloads) {
        const std::lock_guard lock(mutex_);
        return std::includes(seen_.begin(), seen_.end(), payloads.begin(), payloads.end());
    }

    [[nodiscard]] bool gets(const std::set<std::string>& payloads) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (!has(payloads) && std::chrono::steady_clock::now() < deadline) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return has(payloads);
    }

private:
    std::mutex mutex_;
    std::set<std::string> seen_;
};

void expect_refused(const PostgresLog& log, Order order, std::vector<std::string> topics) {
    Destination destination = taking(std::move(topics));
    destination.order = order;
    const auto opened = log.driver()->open(destination);
    ASSERT_FALSE(opened);
    EXPECT_NE(opened.error().text.find("another order"), std::string::npos) << opened.error().text;
}

TEST(PostgresTopicList, WhoeverIsRefusedForItsOrderChangesNothing) {
    for (const std::size_t lanes : {std::size_t{1}, std::size_t{4}}) {
        const PostgresLog log(lanes);
        const PostgresSession session(log.conninfo);
        const std::string row = "select ordering || topics::text from outrider.destination";
        [[maybe_unused]] const auto by_key = log.open(taking({"a"}));
        expect_refused(log, Order::global, {"b"});
        EXPECT_EQ(session.value(row), R"(key["a"])") << lanes;
        session.run("delete from outrider.destination; delete from outrider.progress");
        Destination global = taking({"a"});
        global.order = Order::global;
        [[maybe_unused]] const auto in_one_order = log.open(global);
        expect_refused(log, Order::key, {"b"});
        EXPECT_EQ(session.value(row), R"(global["a"])") << lanes;
    }
}

TEST(PostgresTopicList, ARollingDeploymentPassesOverNoMessageOfTheNewList) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    Inbox inbox;
    Relay old_relay(log.driver());
    old_relay.add(taking({"a"}), inbox.broker());
    old_relay.start();
    session.run("select outrider.enqueue('a', 'before')");
    ASSERT_TRUE(inbox.gets({"before"}));

    Relay new_relay(log.driver());
    new_relay.add(taking({"a", "b"}), inbox.broker());
    new_relay.start();
    const std::string list = "select topics = '[\"a\", \"b\"]' from outrider.destination";
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (session.value(list) != "t" && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ASSERT_EQ(session.value(list), "t");

    std::set<std::string> written;
    for (int i = 0; i < 300; ++i) {  // both relays run, and only one of them takes these
        const std::string number = std::to_string(i);
        session.run("select outrider.enqueue('b', '" + number + "', key => '" + number + "')");
        written.insert(number);
    }
    EXPECT_TRUE(inbox.gets(written));
    EXPECT_EQ(session.value(list), "t") << "the old relay has changed the list back";
}

TEST(PostgresTopicList, ARelayThatIsStartedAgainBringsItsListIntoForce) {
    const PostgresLog log;
    const auto first = log.driver()->open(taking({"a"}));
    ASSERT_TRUE(first);
    ASSERT_TRUE(log.driver()->open(taking({"b"})));
    EXPECT_FALSE((*first)->claim({10, 1000}));
    ASSERT_TRUE(log.driver()->open(taking({"a"}))) << "a new process with the first list";
    EXPECT_TRUE((*first)->claim({10, 1000})) << "its list is in force again";
}

TEST(PostgresTopicList, AnIdleRelayNoticesThatItsDestinationWasForgotten) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    const auto store = log.open(everything());
    EXPECT_TRUE(take_all(*store).empty());
    EXPECT_FALSE(log.admin()->forget("all")) << "not while it is there";
    session.run("delete from outrider.progress; delete from outrider.destination");
    const Result<Batch> claimed = store->claim({10, 1000});
    ASSERT_FALSE(claimed) << "it would stand by for ever";
    EXPECT_EQ(claimed.error().remedy, Remedy::yield);
    session.run("select outrider.enqueue('t', 'after')");
    EXPECT_EQ(take_all(*log.open(everything())), Payloads{"after"});
}

// Its server ends a session when it comes to it: an operator who stopped the relay need not know.
TEST(PostgresTopicList, ADestinationIsForgottenWhenItsRelayIsAboutToLeave) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    auto store = log.open(everything());
    auto forgotten = std::async(std::launch::async, [&log] { return log.admin()->forget("all"); });
    short_cut::wait_for_waiter(session);
    store.reset();
    const Result<bool> done = forgotten.get();
    ASSERT_TRUE(done) << done.error().text;
    EXPECT_TRUE(*done);
}

}  // namespace
}  // namespace outrider
