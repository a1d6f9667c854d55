#include <algorithm>
#include <thread>

#include <gtest/gtest.h>

#include "postgres/short_cut.h"

// Schedules in which a window's floor, end or snapshot is chosen at the wrong moment. Each shows
// what the short cut misses, and that the store does not.

namespace outrider {
namespace {

using short_cut::draw_id;
using short_cut::last_number;
using short_cut::read;
using short_cut::snapshot;
using Payloads = short_cut::Payloads;

Destination from_now_on() {
    Destination destination = everything("from_now_on");
    destination.start = Start::now;
    return destination;
}

TEST(PostgresWindows, TheFirstMessageEverIsAboveTheFloorOfAFreshSequence) {
    const PostgresLog log(1, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const auto oldest = log.open(everything());
    const auto newest = log.open(from_now_on());
    EXPECT_TRUE(take_all(*oldest).empty());
    EXPECT_TRUE(take_all(*newest).empty());
    const std::int64_t wrong_floor =
        std::stoll(session.value("select last_value from outrider.seq"));
    draw_id(session);
    const std::string p = snapshot(session);
    insert(session, "k", "first");
    EXPECT_EQ(session.value("select last_value from outrider.seq"), std::to_string(wrong_floor))
        << "it seems to stand still";
    EXPECT_TRUE(read(session, {p, wrong_floor, snapshot(session)}).empty()) << "lost";
    EXPECT_EQ(take_all(*oldest), Payloads{"first"});
    EXPECT_EQ(take_all(*newest), Payloads{"first"});
}

// Two relays meet a destination that the one has made known and the other gives its cursors; a
// writer has its id and its number already.
TEST(PostgresWindows, ADestinationThatStartsNowFindsWhatCommitsAfterwards) {
    const PostgresLog log(1, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const PostgresSession writer(log.conninfo);
    insert(session, "k", "before");
    session.run("insert into outrider.destination (name, topics) values ('from_now_on', '[\"*\"]')"
    );
    writer.run("begin");
    insert(writer, "k", "in between");
    const auto store = log.open(from_now_on());
    EXPECT_TRUE(take_all(*store).empty());
    writer.run("commit");
    EXPECT_EQ(take_all(*store), Payloads{"in between"});
}

// A window keeps the snapshot it was opened with while it is read in pieces, so the floor of the
// next one is not what the sequence says at the last piece.
TEST(PostgresWindows, AWindowInPiecesHasTwoFloors) {
    const PostgresLog log(1, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const auto store = log.open(everything());
    for (int i = 1; i <= 7; ++i) insert(session, "k", std::to_string(i));
    const std::string s = snapshot(session);
    EXPECT_EQ(take(*store, 3), (Payloads{"1", "2", "3"}));
    insert(session, "k", "between");
    EXPECT_EQ(take(*store, 3), (Payloads{"4", "5", "6"}));
    const std::int64_t one_floor = last_number(session);
    draw_id(session);
    EXPECT_TRUE(read(session, {s, one_floor, snapshot(session)}).empty()) << "lost";
    EXPECT_EQ(take_all(*store, 3), (Payloads{"7", "between"}));
}

// Late rows and new ones in one window, cut into pieces anywhere.
TEST(PostgresWindows, LateRowsAreMergedIntoThePieces) {
    for (std::size_t piece = 1; piece <= 7; ++piece) {
        const PostgresLog log(1, short_cut::quiet_server());
        const PostgresSession session(log.conninfo);
        const PostgresSession late(log.conninfo);
        const auto store = log.open(everything());
        late.run("begin");
        insert(late, "l", "late 1");
        insert(session, "k", "1");
        insert(late, "l", "late 2");
        EXPECT_EQ(take_all(*store), Payloads{"1"});
        insert(late, "l", "late 3");
        insert(session, "k", "2");
        EXPECT_EQ(take_all(*store), Payloads{"2"});
        insert(session, "k", "3");
        insert(late, "l", "late 4");
        late.run("commit");
        insert(session, "k", "4");
        EXPECT_EQ(
            take_all(*store, piece), (Payloads{"late 1", "late 2", "late 3", "3", "late 4", "4"})
        ) << "in pieces of "
          << piece;
    }
}

// The settle parks a message, and so has its id; before it goes on, a writer draws a later id and a
// number.
TEST(PostgresWindows, TheFloorIsReadBeforeTheSettleDrawsItsId) {
    const PostgresLog log(1, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const PostgresSession writer(log.conninfo);
    const PostgresSession gate(log.conninfo);
    const auto store = log.open(everything());
    insert(session, "parked", "parked");
    Result<Batch> batch = store->claim({10, 1000});
    ASSERT_TRUE(batch);
    ASSERT_EQ(batch->envelopes.size(), 1U);
    Settlement again;
    again.fate = Fate::again;
    again.park_key = batch->envelopes[0].order_key;
    again.due_at = batch->now + std::chrono::hours(1);
    gate.run("begin; lock table outrider.progress in share row exclusive mode");
    std::thread settling([&] {
        const Result<void> settled =
            store->settle(std::move(batch).value(), std::vector<Settlement>{again});
        EXPECT_TRUE(settled) << settled.error().text;
    });
    short_cut::wait_for_waiter(session);
    writer.run("begin");
    insert(writer, "k", "late");
    const std::int64_t wrong_floor = last_number(session);
    gate.run("rollback");
    settling.join();
    const std::string s = snapshot(session);
    EXPECT_TRUE(take_all(*store).empty());
    writer.run("commit");
    draw_id(session);
    EXPECT_TRUE(read(session, {s, wrong_floor, snapshot(session)}).empty()) << "lost";
    EXPECT_EQ(take_all(*store), Payloads{"late"});
}

// An id that is not below the window's end, its number drawn already, and nothing afterwards.
TEST(PostgresWindows, SilenceIsNotComparedWithAValueBesideTheSnapshot) {
    const PostgresLog log(1, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const PostgresSession writer(log.conninfo);
    const auto store = log.open(everything());
    insert(session, "k", "1");
    EXPECT_EQ(take_all(*store), Payloads{"1"});
    writer.run("begin");
    insert(writer, "k", "silent");
    const std::string p = snapshot(session);
    const std::int64_t seen = last_number(session);
    EXPECT_TRUE(take(*store).empty());
    writer.run("commit");
    EXPECT_EQ(last_number(session), seen) << "the sequence stands still";
    EXPECT_EQ(
        session.value(
            "select count(*) from pg_snapshot_xip('" + p +
            "') x "
            "where pg_visible_in_snapshot(x, pg_current_snapshot())"
        ),
        "0"
    ) << "and no id that was in progress has ended: the short cut waits for ever";
    EXPECT_EQ(take_all(*store), Payloads{"silent"});
}

TEST(PostgresWindows, ATransactionWithAnIdSeesItsOwnRows) {
    const PostgresLog log(1, short_cut::quiet_server());
    const PostgresSession turn(log.conninfo);
    const PostgresSession session(log.conninfo);
    const auto store = log.open(everything());
    turn.run("begin");
    insert(turn, "k", "phantom");
    draw_id(session);
    EXPECT_EQ(
        turn.column("select convert_from(payload, 'UTF8') from outrider.message_1 where "
                    "pg_visible_in_snapshot(xid, pg_current_snapshot())"),
        Payloads{"phantom"}
    ) << "handed out, and then it rolls back";
    EXPECT_TRUE(take_all(*store).empty());
    turn.run("rollback");
    EXPECT_TRUE(take_all(*store).empty());
}

// More subtransactions than a snapshot has room for: rows carry the top id, and so does the
// snapshot.
TEST(PostgresWindows, TwoHundredSavepointsAreOneTransaction) {
    const PostgresLog log(1, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const PostgresSession writer(log.conninfo);
    const auto store = log.open(everything());
    writer.run("begin");
    Payloads expected;
    for (int i = 0; i < 200; ++i) {
        writer.run("savepoint s" + std::to_string(i));
        insert(writer, "k", std::to_string(i));
        expected.push_back(std::to_string(i));
        if (i % 50 != 0) continue;
        insert(session, "other", "other");
        EXPECT_EQ(take_all(*store), Payloads{"other"});
    }
    writer.run("commit");
    EXPECT_EQ(take_all(*store, 3), expected);
}

// A server that has lost its last settles, while a pooler kept the connection: the cursor is behind
// the turn that the store knows.
TEST(PostgresWindows, ACursorThatWasTurnedBackIsFound) {
    const PostgresLog log(4, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const auto store = log.open(everything());
    Payloads keys;
    for (int i = 0; i < 16; ++i) keys.push_back("k" + std::to_string(i));
    for (const std::string& key : keys) insert(session, key, key);
    EXPECT_EQ(take_all(*store).size(), keys.size());
    for (const std::string& key : keys) insert(session, key, key);
    EXPECT_EQ(take_all(*store).size(), keys.size());
    // The newest row, and all but lanes 1 and 2 of it once more, as another relay would have done.
    session.run(
        "with lost as (delete from outrider.progress where turn = "
        "(select max(turn) from outrider.progress) returning *) "
        "insert into outrider.progress (destination, turn, lane, lanes, delivered, p, f, nf, late) "
        "select destination, turn, 0, '{0,3}', '{0,0}', p, f, nf, late from lost"
    );
    Payloads lost = session.column(
        "select convert_from(payload, 'UTF8') from (select distinct on (key) * from "
        "outrider.message) m where outrider.lane_of(key, seq) in (1, 2)"
    );
    Payloads again = take_all(*store);
    std::sort(lost.begin(), lost.end());
    std::sort(again.begin(), again.end());
    ASSERT_FALSE(lost.empty());
    EXPECT_EQ(again, lost);
    session.run("delete from outrider.progress");
    const Result<Batch> none = store->claim({10, 1U << 20U});
    ASSERT_FALSE(none);
    EXPECT_NE(none.error().text.find("forgotten"), std::string::npos) << none.error().text;
}

}  // namespace
}  // namespace outrider
