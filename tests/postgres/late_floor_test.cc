#include "postgres/late_floor.h"

// What committed late is looked for above a floor of its transaction, a bounded range of numbers at
// a time: many claims in a row may find nothing and yet not be at the end.

namespace outrider::late {
namespace {

TEST(PostgresLateFloor, FindsKeysThatLieManyClaimsApart) {
    const PostgresLog log(4, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const PostgresSession writer(log.conninfo);
    const auto store = log.open(everything());
    Bulk bulk;
    bulk.write(session, 300);
    Payloads delivered = drain(*store, 100).payloads;
    writer.run("begin");
    for (int round = 1; round <= 4; ++round) {
        for (const char* key : {"a", "b", "c", "d", "e"}) write(writer, key, round);
        bulk.write(session, 2500);
        add(delivered, drain(*store, 1000).payloads);
    }
    EXPECT_EQ(delivered.size(), 10'300U);
    writer.run("commit");
    EXPECT_EQ(pending(log), 20U);
    const Taken taken = drain(*store, 3);
    EXPECT_EQ(taken.payloads.size(), 20U);
    EXPECT_GE(taken.empty, 4) << "the limit of numbers did not matter";
    add(delivered, taken.payloads);
    expect_all(session, delivered);
    expect_floors(session);
}

// While a window is read in pieces, others commit late once more, and messages go on.
TEST(PostgresLateFloor, FindsWhatCommitsWhileItLooks) {
    const PostgresLog log(4, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const PostgresSession first(log.conninfo);
    const PostgresSession second(log.conninfo);
    const auto store = log.open(everything());
    Bulk bulk;
    first.run("begin");
    second.run("begin");
    write(first, "a", 1);
    write(second, "b", 1);
    bulk.write(session, 3000);
    Payloads delivered = drain(*store, 1000).payloads;
    write(first, "a", 2);
    write(second, "b", 2);
    bulk.write(session, 3000);
    add(delivered, drain(*store, 1000).payloads);
    first.run("commit");
    for (int i = 0; i < 3; ++i) add(delivered, take(*store, 3));
    second.run("commit");
    bulk.write(session, 10);
    second.run("begin");
    write(second, "b", 3);
    for (int i = 0; i < 3; ++i) add(delivered, take(*store, 3));
    bulk.write(session, 1200);
    add(delivered, drain(*store, 3).payloads);
    second.run("commit");
    add(delivered, drain(*store, 3).payloads);
    expect_all(session, delivered);
    expect_floors(session);
}

TEST(PostgresLateFloor, ADestinationThatStartsNowFindsAllThatEndsLater) {
    const PostgresLog log(4, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const PostgresSession early(log.conninfo);
    const PostgresSession writer(log.conninfo);
    Bulk bulk;
    early.run("begin");
    write(early, "early", 1);
    bulk.write(session, 3000);
    writer.run("begin");
    write(writer, "late", 1);
    Destination destination = everything("from_now_on");
    destination.start = Start::now;
    const auto store = log.open(destination);
    EXPECT_TRUE(drain(*store, 3).payloads.empty());
    write(early, "early", 2);
    early.run("commit");
    EXPECT_EQ(drain(*store, 3).payloads, (Payloads{"early 1", "early 2"}));
    Bulk more("more");
    more.write(session, 1500);
    const Payloads delivered = drain(*store, 100).payloads;
    EXPECT_EQ(delivered.size(), 1500U);
    expect_order(delivered);
    write(writer, "late", 2);
    writer.run("commit");
    EXPECT_EQ(drain(*store, 3).payloads, (Payloads{"late 1", "late 2"}));
    expect_floors(session);
}

TEST(PostgresLateFloor, LanesPartAndMeetAgain) {
    const PostgresLog log(4, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const PostgresSession writer(log.conninfo);
    Destination destination = everything();
    destination.workers = 2;
    const auto one = log.open(destination);
    const auto two = log.open(destination);
    Bulk bulk;
    Payloads delivered;
    int apart = 0;
    writer.run("begin");
    for (int round = 1; round <= 12; ++round) {
        for (const char* key : {"a", "b", "c", "d", "e"}) write(writer, key, round);
        bulk.write(session, 200);
        const auto lane = static_cast<std::uint32_t>(round % 4);
        for (int i = 0; i < 5; ++i) {
            add(delivered, take_but_leave(*one, lane, 7));
            add(delivered, take_but_leave(*two, (lane + 1) % 4, 20));
            apart = std::max(apart, groups(session));
        }
        if (round == 6) {
            writer.run("commit");
            writer.run("begin");
        }
    }
    EXPECT_GT(apart, 1);
    writer.run("commit");
    add(delivered, drain(*one, 3).payloads);
    add(delivered, drain(*two, 3).payloads);
    expect_all(session, delivered);
    expect_floors(session);
    const auto alone = log.open(everything());
    for (int i = 0; i < 3; ++i) {
        bulk.write(session, 400);
        drain(*alone, 1000);
    }
    EXPECT_EQ(groups(session), 1);
}

// Two at once, each with the lanes that it gets.
TEST(PostgresLateFloor, TwoShareTheLanesWhileOneHoldsItsTurn) {
    const PostgresLog log(4, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const PostgresSession writer(log.conninfo);
    Destination destination = everything();
    destination.workers = 2;
    const auto one = log.open(destination);
    const auto two = log.open(destination);
    Bulk bulk;
    Payloads delivered;
    writer.run("begin");
    for (int round = 1; round <= 8; ++round) {
        write(writer, "a", round);
        write(writer, "b", round);
        bulk.write(session, 300);
        Result<Batch> held = one->claim({50, 1U << 20U});
        ASSERT_TRUE(held && held->hold);
        add(delivered, drain(*two, 40).payloads);
        for (const Envelope& e : held->envelopes) delivered.emplace_back(e.payload);
        Settlement done;
        done.fate = Fate::done;
        const std::vector<Settlement> settlements(held->envelopes.size(), done);
        ASSERT_TRUE(one->settle(std::move(held).value(), settlements));
        if (round % 3 == 0) writer.run("commit; begin");
    }
    writer.run("commit");
    add(delivered, drain(*two, 3).payloads);
    expect_all(session, delivered);
    expect_floors(session);
}

// Whoever moved them last knew nothing of floors.
TEST(PostgresLateFloor, ACursorOfAnOlderVersionLosesNothing) {
    const PostgresLog log(2, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const PostgresSession writer(log.conninfo);
    const PostgresSession later(log.conninfo);
    const auto store = log.open(everything());
    Bulk bulk;
    bulk.write(session, 300);
    Payloads delivered = drain(*store, 1000).payloads;
    writer.run("begin");
    write(writer, "a", 1);
    later.run("begin");
    write(later, "b", 1);
    bulk.write(session, 3000);
    add(delivered, drain(*store, 1000).payloads);
    ASSERT_NE(
        session.value("select count(*) from outrider.cursor where cardinality(late) = 2"), "0"
    );
    session.run("update outrider.progress set late = '{}'");
    write(writer, "a", 2);
    writer.run("commit");
    add(delivered, drain(*store, 3).payloads);
    session.run("update outrider.progress set late = '{}'");
    bulk.write(session, 300);
    add(delivered, drain(*store, 3).payloads);
    EXPECT_EQ(pending(log), 0U);
    write(later, "b", 2);
    later.run("commit");
    EXPECT_EQ(pending(log), 2U);
    add(delivered, drain(*store, 3).payloads);
    expect_all(session, delivered);
    expect_floors(session);
}

TEST(PostgresLateFloor, NumbersThatNobodyHasAreSteppedOver) {
    const PostgresLog log(4, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const PostgresSession writer(log.conninfo);
    const auto store = log.open(everything());
    Bulk bulk;
    writer.run("begin");
    write(writer, "a", 1);
    bulk.write(session, 300);
    Payloads delivered = drain(*store, 3).payloads;
    session.run("begin");
    session.run(
        "insert into outrider.message (topic, key, payload) select 't', 'never', '' "
        "from generate_series(1, 20000)"
    );
    session.run("rollback");
    bulk.write(session, 300);
    add(delivered, drain(*store, 3).payloads);
    session.run("select setval('outrider.seq', nextval('outrider.seq') + 300000)");
    bulk.write(session, 300);
    write(writer, "a", 2);
    writer.run("commit");
    const Taken taken = drain(*store, 3);
    EXPECT_GT(taken.empty, 100);
    add(delivered, taken.payloads);
    expect_all(session, delivered);
    expect_floors(session);
}

TEST(PostgresLateFloor, SegmentsWaitForWhatCommitsLate) {
    const PostgresLog log(2, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const PostgresSession writer(log.conninfo);
    const auto store = log.open(everything());
    Bulk bulk;
    std::size_t delivered = 0;
    writer.run("begin");
    for (int round = 1; round <= 3; ++round) {
        write(writer, "a", round);
        write(writer, "b", round);
        bulk.write(session, 1500);
        delivered += drain(*store, 1000).payloads.size();
        EXPECT_EQ(clean_up(log, session), 0U) << "it is still being written";
    }
    EXPECT_EQ(delivered, 4500U);
    EXPECT_EQ(session.value("select last_value from outrider.active"), "4");
    writer.run("commit");
    EXPECT_EQ(clean_up(log, session), 0U) << "nobody has read it";
    EXPECT_EQ(pending(log), 6U);
    const Payloads found = drain(*store, 3).payloads;
    EXPECT_EQ(found.size(), 6U);
    expect_order(found);
    // Lanes without traffic must let go, too.
    EXPECT_EQ(clean_up(log, session), 3U);
    bulk.write(session, 300);
    EXPECT_EQ(drain(*store, 3).payloads.size(), 300U);
}

TEST(PostgresLateFloor, OneOrderForEverythingFindsThemToo) {
    const PostgresLog log(4, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const PostgresSession writer(log.conninfo);
    Destination destination = everything();
    destination.order = Order::global;
    const auto store = log.open(destination);
    Bulk bulk;
    Payloads delivered;
    writer.run("begin");
    for (int round = 1; round <= 3; ++round) {
        for (const char* key : {"a", "b", "c"}) write(writer, key, round);
        bulk.write(session, 1200);
        add(delivered, drain(*store, 500).payloads);
    }
    writer.run("commit");
    EXPECT_EQ(pending(log), 9U);
    const Taken taken = drain(*store, 3);
    EXPECT_EQ(
        taken.payloads, (Payloads{"a 1", "b 1", "c 1", "a 2", "b 2", "c 2", "a 3", "b 3", "c 3"})
    );
    EXPECT_GT(taken.empty, 0);
    add(delivered, taken.payloads);
    expect_all(session, delivered);
    expect_floors(session);
}

TEST(PostgresLateFloor, StatusCountsWhatIsStillToCome) {
    const PostgresLog log(4, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const PostgresSession writer(log.conninfo);
    const auto store = log.open(everything());
    Bulk bulk;
    writer.run("begin");
    for (int place = 1; place <= 3; ++place) {
        for (const char* key : {"a", "b", "c", "d", "e"}) write(writer, key, place);
        bulk.write(session, 700);
        EXPECT_EQ(pending(log), 700U);
        drain(*store, 100);
        EXPECT_EQ(pending(log), 0U);
    }
    writer.run("commit");
    std::uint64_t left = 15;
    for (int claims = 0; claims < 100 && left > 0; ++claims) {
        EXPECT_EQ(pending(log), left);
        left -= take_but_leave(*store, static_cast<std::uint32_t>(claims % 4), 3).size();
    }
    EXPECT_EQ(left, 0U);
    EXPECT_EQ(pending(log), 0U);
}

// A range that was looked at in vain is not looked at again in every turn.
TEST(PostgresLateFloor, ALaneWithoutMessagesPassesATransactionThatHasEnded) {
    const PostgresLog log(4, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const PostgresSession writer(log.conninfo);
    const auto store = log.open(everything());
    Bulk bulk;
    writer.run("begin");
    write(writer, "a", 1);
    const std::string id = writer.value("select pg_current_xact_id()");
    bulk.write(session, 5000);
    drain(*store, 1000);
    writer.run("rollback");
    drain(*store, 1000);
    EXPECT_EQ(
        session.value(
            "select count(*) from outrider.cursor where not pg_visible_in_snapshot('" + id + "', p)"
        ),
        "0"
    );
}

// A lane with a long backlog does not keep the others from their turn.
TEST(PostgresLateFloor, NoWindowWaitsForTheEndOfAnother) {
    const PostgresLog log(2, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const auto store = log.open(everything());
    const auto key_of = [&](const std::string& lane) {
        return session.value(
            "select k from (select 'k' || i as k from generate_series(1, 100) i) x where "
            "outrider.lane_of(k, 0) = " +
            lane + " limit 1"
        );
    };
    const std::string few = key_of("0");
    const std::string many = key_of("1");
    write(session, few, 1);
    write(session, many, 1);
    drain(*store, 3);
    // As if a lane had been in other hands for a turn.
    session.run(
        "insert into outrider.progress (destination, turn, lane, lanes, delivered, p, f, nf, late) "
        "select destination, turn + 1, 0, '{0}', delivered[1:1], p, f, nf - 1, late "
        "from outrider.progress order by turn desc limit 1"
    );
    ASSERT_EQ(groups(session), 2);
    write(session, few, 2);
    session.run(
        "insert into outrider.message (topic, key, payload) select 't', '" + many +
        "', convert_to('" + many + " ' || i, 'UTF8') from generate_series(2, 3000) i"
    );
    Payloads first;
    for (int i = 0; i < 100; ++i) add(first, take(*store, 3));
    EXPECT_NE(std::find(first.begin(), first.end(), few + " 2"), first.end());
}

// However many places the lanes stand at, a claim looks at so many numbers and no more: one that
// took longer than the session's patience would fail again and again.
TEST(PostgresLateFloor, WindowsShareTheNumbersOfAClaim) {
    const PostgresLog log(4, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const PostgresSession writer(log.conninfo);
    const auto store = log.open(everything());
    Bulk bulk;
    writer.run("begin");
    write(writer, "a", 1);
    bulk.write(session, 8000);
    drain(*store, 1000);
    writer.run("rollback");
    session.run(
        "insert into outrider.progress (destination, turn, lane, lanes, delivered, p, f, nf, late) "
        "select destination, turn + 1, l, array[l], array[delivered[l + 1]], p, f, nf - l, late "
        "from (select * from outrider.progress order by turn desc limit 1) c, "
        "generate_series(0, 3) as l"
    );
    ASSERT_EQ(groups(session), 4);
    EXPECT_TRUE(take(*store, 16).empty());
    EXPECT_EQ(session.value("select sum(last) from outrider.cursor"), "4096");
    EXPECT_TRUE(drain(*store, 16).payloads.empty());
}

// Who counts what is pending cannot see what is in progress, and need not look for it.
TEST(PostgresLateFloor, StatusDoesNotLookForWhatIsInProgress) {
    const PostgresLog log(4, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const PostgresSession writer(log.conninfo);
    Bulk bulk;
    writer.run("begin");
    write(writer, "a", 1);
    bulk.write(session, 5000);
    drain(*log.open(everything()), 1000);
    const auto rows_read = [&] {
        // A session tells what it has read when it ends.
        while (session.value("select count(*) from pg_stat_activity where backend_type = 'client "
                             "backend' and datname = current_database()") != "2") {
        }
        // Before version 15 a process of its own collects it, and writes twice a second.
        const bool collected = std::stoi(session.value("show server_version_num")) < 150'000;
        if (collected) std::this_thread::sleep_for(std::chrono::seconds(2));
        session.run("select pg_stat_clear_snapshot()");
        return std::stoi(
            session.value("select idx_tup_fetch from pg_stat_user_tables where relid "
                          "= 'outrider.message_1'::regclass")
        );
    };
    const int before = rows_read();
    EXPECT_EQ(pending(log), 0U);
    EXPECT_LT(rows_read() - before, 1000);
    writer.run("commit");
    EXPECT_EQ(pending(log), 1U);
}

}  // namespace
}  // namespace outrider::late
