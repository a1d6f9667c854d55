#include <gtest/gtest.h>

#include "postgres/log.h"
#include "postgres/short_cut.h"

// Lanes that stand together have one row; what that must not change.

namespace outrider {
namespace {

using Payloads = std::vector<std::string>;

class PostgresTogether : public ::testing::Test {
protected:
    PostgresTogether() : log(4, short_cut::quiet_server()), session(log.conninfo) {}

    // A message for each lane.
    void write() const {
        for (int lane = 0; lane < 4; ++lane) {
            insert(session, key_of(lane), std::to_string(lane));
        }
    }

    [[nodiscard]] std::string key_of(int lane) const {
        return session.value(
            "select k from (select 'k' || i as k from generate_series(1, 100) i) x where "
            "outrider.lane_of(k, 0) = " +
            std::to_string(lane) + " limit 1"
        );
    }

    [[nodiscard]] std::unique_ptr<Store> open(std::size_t workers) const {
        Destination destination = everything();
        destination.workers = workers;
        return log.open(destination);
    }

    // Lanes of the rows that hold for at least one of them.
    [[nodiscard]] Payloads rows() const {
        return session.column(
            "select lanes from outrider.progress r where exists (select from unnest(r.lanes) as l "
            "where not exists (select from outrider.progress n where n.turn > r.turn and l = any "
            "(n.lanes))) order by lane, turn"
        );
    }

    [[nodiscard]] Payloads all_rows() const {
        return session.column("select lanes from outrider.progress order by lane, turn");
    }

    // Claims so many, lets somebody else run this, and settles them all.
    void expect_refused(Store& store, std::size_t messages, const std::string& meanwhile) const {
        Result<Batch> batch = store.claim({10, 1U << 20U});
        ASSERT_TRUE(batch) << batch.error().text;
        ASSERT_EQ(batch->envelopes.size(), messages);
        session.run(meanwhile);
        const Payloads before = all_rows();
        Settlement done;
        done.fate = Fate::done;
        const Result<void> settled =
            store.settle(std::move(batch).value(), std::vector(messages, done));
        ASSERT_FALSE(settled) << meanwhile;
        EXPECT_EQ(settled.error().remedy, Remedy::yield) << settled.error().text;
        EXPECT_EQ(all_rows(), before) << meanwhile;
    }

    PostgresLog log;
    PostgresSession session;
};

TEST_F(PostgresTogether, LanesPartWithTheWorkersAndMeetAgain) {
    const auto one = open(2);
    const auto other = open(2);
    EXPECT_EQ(rows(), Payloads{"{0,1,2,3}"});
    write();
    Result<Batch> first = one->claim({10, 1U << 20U});
    Result<Batch> second = other->claim({10, 1U << 20U});
    ASSERT_TRUE(first && second);
    ASSERT_EQ(first->envelopes.size() + second->envelopes.size(), 4U);
    Settlement done;
    done.fate = Fate::done;
    ASSERT_TRUE(one->settle(std::move(first).value(), std::vector(2, done)));
    EXPECT_EQ(rows().size(), 2U) << "what the other holds stands where it stood";
    EXPECT_EQ(session.value("select count(distinct lane) from outrider.cursor"), "4");
    ASSERT_TRUE(log.admin()->clean_up(Duration::zero(), 1000));
    EXPECT_EQ(all_rows().size(), 2U) << "the old row still holds for two lanes";
    ASSERT_TRUE(other->settle(std::move(second).value(), std::vector(2, done)));
    EXPECT_EQ(rows(), (Payloads{"{0,1}", "{2,3}"}));
    const auto alone = open(1);
    write();
    EXPECT_EQ(take_all(*alone).size(), 4U);
    write();
    EXPECT_EQ(take_all(*alone).size(), 4U);
    EXPECT_EQ(rows(), Payloads{"{0,1,2,3}"});
    ASSERT_TRUE(log.admin()->clean_up(Duration::zero(), 1000));
    EXPECT_EQ(all_rows(), Payloads{"{0,1,2,3}"});
    EXPECT_EQ(session.column("select delivered from outrider.cursor"), (Payloads(4, "3")));
    EXPECT_TRUE(take_all(*one).empty());
}

// Turns of all workers go on from the newest: whoever comes back after others have made a thousand
// does not look at each of them.
TEST_F(PostgresTogether, TurnsKeepPace) {
    const auto one = open(2);
    for (int i = 0; i < 5; ++i) {
        write();
        EXPECT_EQ(take_all(*one).size(), 4U);
    }
    EXPECT_EQ(session.value("select count(distinct turn) = count(*) from outrider.progress"), "t");
}

// As if one lane had been in other hands for days: whoever begins looks near the newest turn first.
TEST_F(PostgresTogether, ALaneThatIsFarBehindIsFound) {
    write();
    EXPECT_EQ(take_all(*open(1)).size(), 4U);
    for (const char* turn : {"1000", "1000000", "10000000000"}) {
        session.run(
            "insert into outrider.progress (destination, turn, lane, lanes, delivered, p, f, nf, "
            "late) select destination, " +
            std::string(turn) +
            ", 1, '{1,2,3}', delivered[2:4], p, f, nf, late "
            "from outrider.progress where 1 = any (lanes) order by turn desc limit 1"
        );
        const auto store = open(1);
        write();
        Payloads taken = take(*store);
        std::sort(taken.begin(), taken.end());
        EXPECT_EQ(taken, (Payloads{"0", "1", "2", "3"}));
        EXPECT_TRUE(take_all(*store).empty());
    }
    EXPECT_EQ(session.column("select delivered from outrider.cursor"), (Payloads(4, "4")));
}

// Advisory locks keep two from moving the same lane. Whatever gets past them is noticed.
TEST_F(PostgresTogether, ASettleChangesNothingIfSomebodyHasMovedALane) {
    for (const std::string lanes : {"{0}", "{2}", "{1,2,3}", "{0,1,2,3}"}) {
        write();
        const std::string array = "'" + lanes + "'::smallint[]";
        expect_refused(
            *open(1),
            4,
            "insert into outrider.progress (destination, turn, lane, lanes, delivered, p, f, nf, "
            "late) select destination, turn + 2, (" +
                array + ")[1], " + array + ", array_fill(0, array[cardinality(" + array +
                ")]), p, f, nf, late from outrider.progress order by turn desc limit 1"
        );
        EXPECT_EQ(take_all(*open(1)).size(), 4U) << "as if it had not been claimed";
    }
}

TEST_F(PostgresTogether, ASettleChangesNothingIfSomebodyHasRemovedWhereALaneStood) {
    const auto half = open(2);
    write();
    EXPECT_EQ(take(*half).size(), 2U);  // now there are two places
    write();
    const auto store = open(1);
    for (const std::string which : {"min(turn)", "max(turn)"}) {
        expect_refused(
            *store,
            6,
            "create table saved as select * from outrider.progress; delete from outrider.progress "
            "where turn = (select " +
                which + " from outrider.progress)"
        );
        session.run(
            "delete from outrider.progress; insert into outrider.progress select * from saved; "
            "drop table saved"
        );
    }
    EXPECT_EQ(take_all(*store).size(), 6U);
}

}  // namespace
}  // namespace outrider
