#include <gtest/gtest.h>

#include "table/outbox.h"

// What is pending, and what only waits, on a real server.

namespace outrider {
namespace {

using std::chrono::hours;

// open-outbox: a key, attempts, a time at which a row is due.
class TableStatus : public ::testing::Test {
protected:
    DestinationStatus status() const {
        return outbox.admin(destination)->backlog({})->destinations.at(0);
    }

    void set(const std::string& what, int n) const {
        outbox.session.run("update openoutbox_events set " + what + " where " + outbox.where(n));
    }

    Outbox outbox{schemas().at(5)};
    Destination destination = eager();
};

TEST_F(TableStatus, ARowThatIsNotDueIsParkedAndHasNoAge) {
    outbox.write(1);
    set("available_at = now() + interval '1 day'", 1);
    EXPECT_EQ(status().pending, 0U);
    EXPECT_EQ(status().parked, 1U);
    EXPECT_FALSE(status().oldest_pending_age);
    outbox.write(2);
    set("created_at = now()", 2);
    EXPECT_EQ(status().pending, 1U);
    EXPECT_LT(status().oldest_pending_age.value(), hours(1));
}

TEST_F(TableStatus, ARefusedRowIsParkedAndHasNoAge) {
    outbox.write(1);
    set("attempts = 1, last_error = 'no'", 1);
    EXPECT_EQ(status().pending, 0U);
    EXPECT_EQ(status().parked, 1U);
    EXPECT_EQ(status().parked_reason, "no");
    EXPECT_FALSE(status().oldest_pending_age);
}

TEST_F(TableStatus, WhatIsBehindARowThatWaitsIsParkedWhereFailuresBlock) {
    for (int n = 1; n <= 3; ++n) outbox.write(n, "a");
    outbox.write(4, "b");
    set("available_at = now() + interval '1 day'", 2);
    EXPECT_EQ(status().pending, 2U) << "1 and 4";
    EXPECT_EQ(status().parked, 2U);
    destination.on_failure = OnFailure::skip;
    EXPECT_EQ(status().pending, 3U);
    EXPECT_EQ(status().parked, 1U);
    destination.on_failure = OnFailure::block;
    destination.order = Order::global;
    EXPECT_EQ(status().pending, 1U);
    EXPECT_EQ(status().parked, 3U);
}

TEST_F(TableStatus, WhatIsBehindADeadRowIsParkedWhereItHolds) {
    for (int n = 1; n <= 3; ++n) outbox.write(n, "a");
    set("status = 'DEAD'", 2);
    EXPECT_EQ(status().pending, 2U);
    destination.after_death = AfterDeath::hold;
    EXPECT_EQ(status().pending, 1U) << "1, which is before it";
    EXPECT_EQ(status().parked, 1U);
    EXPECT_EQ(status().dead, 1U);
}

// outbox-events: no column says that a row was refused.
TEST(TableHeld, WhatARelayHoldsBackItsOwnProcessKnows) {
    for (const Order order : {Order::key, Order::global}) {
        Outbox outbox(schemas().at(1));
        for (int n = 1; n <= 2; ++n) outbox.write(n, "a");
        outbox.write(3, "b");
        Destination destination = eager();
        destination.order = order;
        const auto driver = outbox.driver({destination});
        const auto store = std::move(driver->open(destination)).value();
        const auto admin = std::move(driver->open_admin(StoreDriver::IfMissing::fail)).value();
        Batch batch = claim(*store, 1);
        Settlement again;
        again.fate = Fate::again;
        again.attempts = 1;
        again.due_at = batch.now + hours(1);
        ASSERT_TRUE(store->settle(std::move(batch), std::vector{again}));
        const DestinationStatus known = admin->backlog({})->destinations.at(0);
        EXPECT_EQ(known.pending, 3U);
        EXPECT_EQ(known.held_back, order == Order::key ? 2U : 3U);
        const auto elsewhere = outbox.admin(destination);
        EXPECT_EQ(elsewhere->backlog({})->destinations.at(0).held_back, 0U);
    }
}

}  // namespace
}  // namespace outrider
