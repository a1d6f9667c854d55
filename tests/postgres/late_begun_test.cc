#include "postgres/late_floor.h"

// What is known of a transaction that is in progress, by when it began.

namespace outrider::late {
namespace {

using short_cut::last_number;

TEST(PostgresLateBegun, KnowsEachTransactionByWhenItBegan) {
    const PostgresLog log(2, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const auto store = log.open(everything());
    Bulk bulk;
    Payloads delivered;
    const auto go_on = [&] {
        bulk.write(session, 400);
        add(delivered, drain(*store, 1000).payloads);
    };
    go_on();
    std::vector<std::unique_ptr<PostgresSession>> late;
    std::vector<std::int64_t> at_least;
    std::vector<std::int64_t> below;
    for (int i = 0; i < 4; ++i) {
        at_least.push_back(last_number(session) - 400);
        go_on();
        late.push_back(std::make_unique<PostgresSession>(log.conninfo));
        late.back()->run("begin");
        write(*late.back(), "l" + std::to_string(i), 1);
        below.push_back(last_number(session));
        go_on();
    }
    // Each lane says the same of the four, in the order of their ids.
    go_on();
    for (const char* lane : {"0", "1"}) {
        const Payloads floors = session.column(
            "select unnest(late) from outrider.cursor where lane = " + std::string(lane)
        );
        ASSERT_EQ(floors.size(), 4U);
        for (std::size_t i = 0; i < 4; ++i) {
            EXPECT_GE(std::stoll(floors[i]), at_least[i]);
            EXPECT_LT(std::stoll(floors[i]), below[i]);
        }
    }
    for (const std::size_t i : {2U, 0U, 3U, 1U}) {
        write(*late[i], "l" + std::to_string(i), 2);
        late[i]->run("commit");
        const Payloads found = drain(*store, 3).payloads;
        const std::string key = "l" + std::to_string(i);
        EXPECT_EQ(found, (Payloads{key + " 1", key + " 2"}));
        add(delivered, found);
        go_on();
    }
    expect_all(session, delivered);
    expect_floors(session);
}

// The floor of a window was read by the settle before it opened: whoever has drawn its id since
// lies above, although it was in progress when the window opened.
TEST(PostgresLateBegun, KnowsWhoHasBegunSinceAFloorWasRead) {
    const PostgresLog log(1, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const PostgresSession late(log.conninfo);
    const auto store = log.open(everything());
    Bulk bulk;
    bulk.write(session, 300);
    Payloads delivered = drain(*store, 1000).payloads;
    bulk.write(session, 300);
    add(delivered, drain(*store, 1000).payloads);
    const std::int64_t floor = last_number(session);
    late.run("begin");
    write(late, "l", 1);
    bulk.write(session, 300);
    add(delivered, drain(*store, 1000).payloads);
    EXPECT_EQ(session.value("select late[1] from outrider.cursor"), std::to_string(floor));
    late.run("commit");
    EXPECT_EQ(drain(*store, 3).payloads, (Payloads{"l 1"}));
    add(delivered, {"l 1"});
    expect_all(session, delivered);
    expect_floors(session);
}

// A claim gives those a moment who are in progress when a long window opens, and no more than that.
TEST(PostgresLateBegun, ALongWindowDoesNotWaitForALongTransaction) {
    const PostgresLog log(2, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const PostgresSession late(log.conninfo);
    const auto store = log.open(everything());
    session.run("alter sequence outrider.seq increment 10000");
    late.run("begin");
    write(late, "l", 1);
    Bulk bulk;
    bulk.write(session, 300);
    Payloads delivered = drain(*store, 1000).payloads;
    EXPECT_EQ(delivered.size(), 300U);
    late.run("commit");
    add(delivered, drain(*store, 1000).payloads);
    expect_all(session, delivered);
    expect_floors(session);
}

}  // namespace
}  // namespace outrider::late
