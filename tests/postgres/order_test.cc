#include <gtest/gtest.h>

#include "outrider/testing.h"

#include "core/clock.h"
#include "core/dice.h"
#include "postgres/short_cut.h"
#include "relay/turn.h"

// What order is promised, what breaks it, and what a failed publish leaves behind.

namespace outrider {
namespace {

using Outcome = TurnReport::Outcome;
using Payloads = short_cut::Payloads;
using testing::Fault;

// Turns of a real relay against a broker that fails as the test says.
class Turns {
public:
    Turns(const PostgresLog& log, testing::FaultRule rule)
        : store_(log.open(destination_)),
          driver_(testing::faulty_broker(arrived.driver(), std::move(rule))),
          broker_(std::move(driver_->open()).value()) {}

    TurnReport make() {
        return make_turn(
            *store_,
            *broker_,
            {.destination = destination_,
             .limits = {100, 1U << 20U},
             .clock = clock_,
             .dice = dice_,
             .observer = observer_,
             .stop = {}}
        );
    }

    // Until this many have arrived.
    void make_until(std::size_t count) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (arrived.received().size() < count && std::chrono::steady_clock::now() < deadline) {
            [[maybe_unused]] const TurnReport report = make();
        }
    }

    [[nodiscard]] Payloads payloads() const {
        Payloads payloads;
        for (const testing::Received& one : arrived.received()) payloads.push_back(one.payload);
        return payloads;
    }

    testing::MemoryBroker arrived;

private:
    static Destination impatient() {
        Destination destination = everything();
        destination.retry.delay_first = std::chrono::milliseconds(1);
        return destination;
    }

    const Destination destination_ = impatient();
    std::unique_ptr<Store> store_;
    std::shared_ptr<BrokerDriver> driver_;
    std::unique_ptr<Broker> broker_;
    SystemClock clock_;
    SeededDice dice_{1};
    Observer observer_;
};

// The first message of a key is refused once; the second, in the same burst, would be taken.
TEST(PostgresOrder, NothingOfAKeyIsOfferedBehindARefusal) {
    const PostgresLog log(1);
    const PostgresSession session(log.conninfo);
    insert(session, "k", "1");
    insert(session, "k", "2");
    insert(session, "other", "3");
    int refusals = 0;
    const testing::FaultRule refuse_once = [&refusals](const Delivery& delivery) {
        return delivery.payload == "1" && refusals++ == 0 ? Fault::refuse : Fault::none;
    };
    {
        testing::MemoryBroker burst;
        const auto driver = testing::faulty_broker(burst.driver(), refuse_once);
        const auto broker = std::move(driver->open()).value();
        const auto store = log.open(everything("short cut"));
        const Result<Batch> batch = store->claim({10, 1000});
        std::vector<Answer> answers(batch->envelopes.size());
        broker->publish(batch->envelopes, SystemClock().now() + std::chrono::seconds(5), answers);
        ASSERT_FALSE(burst.received().empty());
        EXPECT_EQ(burst.received()[0].payload, "2") << "the whole burst at once breaks the order";
    }
    refusals = 0;
    Turns turns(log, refuse_once);
    turns.make_until(3);
    EXPECT_EQ(turns.payloads(), (Payloads{"3", "1", "2"}));
}

TEST(PostgresOrder, AFailedPublishLeavesEverythingForTheNextTry) {
    const PostgresLog log(4);
    const PostgresSession session(log.conninfo);
    for (int i = 0; i < 20; ++i) insert(session, "k", std::to_string(i));
    bool down = true;
    Turns turns(log, [&down](const Delivery&) { return down ? Fault::lose_message : Fault::none; });
    for (int i = 0; i < 3; ++i) EXPECT_EQ(turns.make().outcome, Outcome::unanswered);
    EXPECT_EQ(session.value("select count(*) from outrider.parked"), "0") << "nobody is charged";
    EXPECT_EQ(session.value("select count(*) from outrider.dead"), "0");
    down = false;
    turns.make_until(20);
    Payloads expected;
    for (int i = 0; i < 20; ++i) expected.push_back(std::to_string(i));
    EXPECT_EQ(turns.payloads(), expected);
}

// Numbers handed out in advance are not the order of writing.
TEST(PostgresOrder, BreaksWithASequenceThatIsCached) {
    for (const bool cached : {false, true}) {
        const PostgresLog log(1);
        const PostgresSession first(log.conninfo);
        const PostgresSession second(log.conninfo);
        if (cached) first.run("alter sequence outrider.seq cache 10");
        insert(first, "x", "0");
        insert(second, "k", "1");
        insert(first, "k", "2");
        const Payloads written = {"0", "1", "2"};
        const Payloads delivered = take_all(*log.open(everything()));
        EXPECT_EQ(delivered == written, !cached);
    }
}

// Documented: take the row lock, then enqueue. Who enqueues first has no promise.
TEST(PostgresOrder, IsThatOfEnqueueAndNotOfTheRowLock) {
    const PostgresLog log(1);
    const PostgresSession first(log.conninfo);
    const PostgresSession second(log.conninfo);
    first.run("create table account (n int); insert into account values (0)");
    first.run("begin");
    insert(first, "k", "enqueued first");
    second.run("begin");
    insert(second, "k", "enqueued second");
    EXPECT_EQ(second.value("update account set n = n + 1 returning n"), "1");
    second.run("commit");
    EXPECT_EQ(first.value("update account set n = n + 1 returning n"), "2");
    first.run("commit");
    EXPECT_EQ(take_all(*log.open(everything())), (Payloads{"enqueued first", "enqueued second"}));
}

// Documented: the order is that of commits, which serializable transactions need not have.
TEST(PostgresOrder, IsThatOfCommitsAndNotOfSerialisation) {
    const PostgresLog log(1);
    const PostgresSession reader(log.conninfo);
    const PostgresSession writer(log.conninfo);
    const auto store = log.open(everything());
    reader.run("create table account (n int); insert into account values (0)");
    reader.run("begin isolation level serializable");
    writer.run("begin isolation level serializable");
    EXPECT_EQ(reader.value("select n from account"), "0") << "serialised before the other";
    insert(reader, "k", "serialised first");
    writer.run("update account set n = n + 1");
    insert(writer, "k", "serialised second");
    writer.run("commit");
    EXPECT_EQ(take_all(*store), Payloads{"serialised second"});
    reader.run("commit");
    EXPECT_EQ(take_all(*store), Payloads{"serialised first"});
}

}  // namespace
}  // namespace outrider
