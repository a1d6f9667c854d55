#include <gtest/gtest.h>

#include "postgres/short_cut.h"
#include "stores/postgres/registration.h"

// Schedules of rotation and truncation. Each shows what the short cut misses, and that the store
// does not.

namespace outrider {
namespace {

using short_cut::age_segments;
using short_cut::draw_id;
using short_cut::last_number;
using short_cut::read;
using short_cut::snapshot;
using Payloads = short_cut::Payloads;

std::uint64_t clean_up(const PostgresLog& log) {
    const Result<std::uint64_t> emptied = log.admin()->clean_up(Duration::zero(), 1000);
    if (!emptied) throw std::runtime_error(emptied.error().text);
    return *emptied;
}

// Leaves the active segment; the one message that is needed for that was written before.
void rotate(const PostgresLog& log, const PostgresSession& session) {
    const std::string before = session.value("select last_value from outrider.active");
    age_segments(session);
    clean_up(log);
    ASSERT_NE(session.value("select last_value from outrider.active"), before);
}

TEST(PostgresSegments, ARotationBetweenTheChoiceOfSegmentsAndTheSnapshotLosesNothing) {
    const PostgresLog log(1, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const auto store = log.open(everything());
    insert(session, "k", "1");
    EXPECT_EQ(take_all(*store), Payloads{"1"});
    const std::string p = snapshot(session);
    const std::int64_t floor = last_number(session);
    draw_id(session);
    const std::vector<int> chosen = {1};
    rotate(log, session);
    insert(session, "k", "2");
    const std::int64_t next_floor = last_number(session);
    draw_id(session);
    const std::string s = snapshot(session);
    EXPECT_TRUE(read(session, {p, floor, s, chosen}).empty());
    EXPECT_TRUE(read(session, {s, next_floor, snapshot(session), {1, 2}}).empty()) << "lost";
    EXPECT_EQ(take_all(*store), Payloads{"2"});
}

// A writer that read the active segment and was delayed before it drew its number.
TEST(PostgresSegments, PiecesAreMergedByNumberAcrossSegments) {
    const PostgresLog log(1, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const PostgresSession slow(log.conninfo);
    insert(session, "k", "0");
    slow.run("begin");
    draw_id(slow);
    rotate(log, session);
    insert(session, "k", "1");
    slow.run("insert into outrider.message (segment, topic, key, payload) values (1, 't', 's', '2')"
    );
    slow.run("commit");
    Payloads one_after_the_other;
    std::int64_t last = 0;
    for (const char* segment : {"1", "2"}) {
        const std::string table = std::string("outrider.message_") + segment;
        const std::string above = " where seq > " + std::to_string(last);
        for (const std::string& payload : session.column(
                 "select convert_from(payload, 'UTF8') from " + table + above + " order by seq"
             )) {
            one_after_the_other.push_back(payload);
        }
        last = std::stoll("0" + session.value("select max(seq) from " + table));
    }
    EXPECT_EQ(one_after_the_other, (Payloads{"0", "2"})) << "the row in the second is lost";
    EXPECT_EQ(take_all(*log.open(everything()), 1), (Payloads{"0", "1", "2"}));
}

// Segments 1 and 2 may go, but somebody reads 1.
TEST(PostgresSegments, TruncationStopsAtTheOldestThatItCannotHave) {
    const PostgresLog log(1, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const PostgresSession reader(log.conninfo);
    const auto store = log.open(everything());
    for (const char* payload : {"1", "2", "3"}) {
        insert(session, "k", payload);
        // Held open, so that the clean-up that rotates empties nothing.
        reader.run("begin; select 1 from outrider.message_1");
        rotate(log, session);
        reader.run("rollback");
    }
    EXPECT_EQ(take_all(*store), (Payloads{"1", "2", "3"}));
    reader.run("begin; select 1 from outrider.message_1");
    age_segments(session);
    EXPECT_EQ(clean_up(log), 0U);
    EXPECT_EQ(take_all(*log.open(everything("newcomer"))), (Payloads{"1", "2", "3"}));
    session.run("begin; set local lock_timeout = '50ms'");
    EXPECT_ANY_THROW(session.run("truncate outrider.message_1"));
    session.run("rollback; truncate outrider.message_2");
    EXPECT_EQ(take_all(*log.open(everything("after the short cut"))), (Payloads{"1", "3"}))
        << "a hole";
    reader.run("rollback");
    EXPECT_TRUE(take_all(*store).empty());
    for (const char* name : {"newcomer", "after the short cut"})
        take_all(*log.open(everything(name)));
    EXPECT_EQ(clean_up(log), 3U);
}

// What a clean-up verifies it must see as of now, whatever the database's default.
TEST(PostgresSegments, VerificationSeesWhatWasCommittedBeforeTheLock) {
    const PostgresLog log(1, short_cut::quiet_server());
    PostgresSession(log.conninfo)
        .run(
            "do $$begin execute format('alter database %I set default_transaction_isolation = "
            "''repeatable read''', current_database()); end$$"
        );
    const PostgresSession session(log.conninfo);
    const PostgresSession verifier(log.conninfo);
    verifier.run("begin; select 1");
    insert(session, "k", "1");
    verifier.run("lock table outrider.message_1");
    EXPECT_EQ(verifier.value("select count(*) from outrider.message_1"), "0") << "truth: 1";
    verifier.run("rollback");
    const auto ahead = log.open(everything());
    const auto behind = log.open(everything("behind"));
    EXPECT_EQ(take_all(*ahead), Payloads{"1"});
    rotate(log, session);
    age_segments(session);
    EXPECT_TRUE(take_all(*ahead).empty());
    EXPECT_EQ(clean_up(log), 0U);
    EXPECT_EQ(take_all(*behind), Payloads{"1"});
    EXPECT_EQ(clean_up(log), 1U);
}

// A rotation that stopped anywhere, since its process died or froze there, is finished by the next:
// what it had opened is not taken for one that was left.
TEST(PostgresSegments, ARotationThatWasInterruptedIsFinished) {
    const PostgresLog log(1, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const auto store = log.open(everything());
    insert(session, "k", "1");
    session.run("update outrider.segment set opened_at = now() where segment = 2");
    EXPECT_EQ(clean_up(log), 0U);
    EXPECT_EQ(session.value("select last_value from outrider.active"), "2");
    EXPECT_EQ(
        session.value("select closed_by is null from outrider.segment where segment = 2"), "t"
    );
    insert(session, "k", "2");
    session.run("update outrider.segment set opened_at = now() where segment = 3");
    session.run("select setval('outrider.active', 3)");
    insert(session, "k", "3");
    EXPECT_EQ(clean_up(log), 0U);
    EXPECT_EQ(
        session.column("select segment from outrider.segment where closed_by is not null order by 1"
        ),
        (Payloads{"1", "2"})
    );
    EXPECT_EQ(take_all(*store), (Payloads{"1", "2", "3"}));
    EXPECT_EQ(clean_up(log), 2U);
}

// Two clean each step by step: whatever a frozen one has seen, it acts on what is there now.
TEST(PostgresSegments, OnlyOneCleansAtATimeAndNoLockOutlivesItsTransaction) {
    const PostgresLog log(1, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const auto store = log.open(everything());
    insert(session, "k", "1");
    EXPECT_EQ(take_all(*store), Payloads{"1"});
    const auto names = postgres::Names::of("outrider", "now()");
    const std::string lock = std::to_string(postgres::lane_lock(*names, 0, -2));
    session.run("begin; select pg_advisory_xact_lock(" + lock + ")");
    age_segments(PostgresSession(log.conninfo));
    EXPECT_EQ(clean_up(log), 0U);
    EXPECT_EQ(session.value("select last_value from outrider.active"), "1");
    session.run("commit");
    const auto admin = log.admin();
    ASSERT_TRUE(admin->clean_up(Duration::zero(), 1000));
    EXPECT_EQ(session.value("select last_value from outrider.active"), "2");
    EXPECT_EQ(
        session.value("select count(*) from pg_locks where locktype = 'advisory' and database = "
                      "(select oid from pg_database where datname = current_database()) "
                      "and mode = 'ExclusiveLock'"),
        "0"
    ) << "behind a pooler nobody could release it";
}

// A lane without traffic settles an empty window while a segment waits for it.
TEST(PostgresSegments, QuietLanesDoNotHoldASegment) {
    const PostgresLog log(16, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const auto store = log.open(everything());
    insert(session, "k", "1");
    EXPECT_EQ(take_all(*store), Payloads{"1"});
    rotate(log, session);
    age_segments(session);
    EXPECT_TRUE(take_all(*store).empty());
    EXPECT_EQ(clean_up(log), 1U);
    EXPECT_EQ(session.value("select count(*) from outrider.message"), "0");
}

// A transaction that began before the rotation can still write into the segment.
TEST(PostgresSegments, AnOldTransactionKeepsItsSegment) {
    const PostgresLog log(1, short_cut::quiet_server());
    const PostgresSession session(log.conninfo);
    const PostgresSession slow(log.conninfo);
    const auto store = log.open(everything());
    insert(session, "k", "1");
    slow.run("begin");
    draw_id(slow);
    rotate(log, session);
    age_segments(session);
    EXPECT_EQ(take_all(*store), Payloads{"1"});
    EXPECT_EQ(clean_up(log), 0U);
    slow.run(
        "insert into outrider.message (segment, topic, key, payload) values (1, 't', 's', 'slow')"
    );
    EXPECT_TRUE(take_all(*store).empty());
    EXPECT_EQ(clean_up(log), 0U);
    slow.run("commit");
    EXPECT_EQ(clean_up(log), 0U) << "committed and not delivered";
    EXPECT_EQ(take_all(*store), Payloads{"slow"});
    EXPECT_EQ(clean_up(log), 1U);
}

}  // namespace
}  // namespace outrider
