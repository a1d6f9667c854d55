#include "relay/turn.h"

#include <map>

#include <gtest/gtest.h>

#include "stores/memory/database.h"
#include "support/manual_clock.h"

namespace outrider {
namespace {

using Outcome = TurnReport::Outcome;
using std::chrono::seconds;

// A broker whose answers a test writes down in advance, by payload; all else is acknowledged.
class ScriptedBroker final : public Broker {
public:
    [[nodiscard]] BrokerTraits traits() const override { return traits_value; }

    void publish(
        std::span<const Envelope> envelopes,
        Deadline /*deadline*/,
        std::span<Answer> answers
    ) override {
        std::vector<std::string> burst;
        for (std::size_t i = 0; i < envelopes.size(); ++i) {
            burst.emplace_back(envelopes[i].payload);
            const auto script = verdicts.find(burst.back());
            answers[i] = {
                script == verdicts.end() ? Verdict::acknowledged : script->second, "because"};
        }
        bursts.push_back(std::move(burst));
        if (after_burst) after_burst();
    }

    [[nodiscard]] Result<void> ping(Deadline /*deadline*/) override { return {}; }

    BrokerTraits traits_value;
    std::map<std::string, Verdict> verdicts;
    std::vector<std::vector<std::string>> bursts;
    std::function<void()> after_burst;
};

using Bursts = std::vector<std::vector<std::string>>;

class TurnTest : public ::testing::Test {
protected:
    TurnTest() {
        destination_.name = "d";
        destination_.retry.jitter = 0;
    }

    void commit(const std::vector<std::pair<std::string, std::string>>& keys_and_payloads) {
        std::vector<Message> messages;
        for (const auto& [key, payload] : keys_and_payloads) {
            Message message;
            message.topic = "t";
            message.key = key;
            message.payload = payload;
            messages.push_back(message);
        }
        database_->commit(std::move(messages));
    }

    // Of one message, if asked for: as after a ping that was answered.
    TurnReport turn(std::size_t messages = 100) {
        if (!store_) store_ = std::move(database_->open(destination_)).value();
        return make_turn(
            *store_,
            broker_,
            {.destination = destination_,
             .limits = {messages, 1U << 20U},
             .clock = *clock_,
             .dice = dice_,
             .observer = observer_,
             .stop = stop_.get_token(),
             .lone = messages == 1 ? &lone_ : nullptr}
        );
    }

    DestinationStatus status() {
        const auto admin = std::move(database_->open_admin(StoreDriver::IfMissing::fail)).value();
        return admin->backlog({})->destinations.at(0);
    }

    std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
    std::shared_ptr<MemoryDatabase> database_ =
        std::make_shared<MemoryDatabase>(MemoryDatabase::Options{}, clock_);
    Destination destination_;
    ScriptedBroker broker_;
    SeededDice dice_{1};
    Observer observer_;
    std::stop_source stop_;
    std::unique_ptr<Store> store_;
    LoneFailures lone_;
};

// However long it kept silent, it comes back only after the others have had their chance; and is
// charged once they were answered and it was not.
TEST_F(TurnTest, SetsAMessageAsideThatAloneIsNotAnswered) {
    broker_.verdicts = {{"poison", Verdict::unanswered}};
    broker_.after_burst = [this] { clock_->advance(seconds(40)); };
    commit({{"a", "poison"}, {"b", "1"}});
    EXPECT_EQ(turn(1).outcome, Outcome::unanswered);
    EXPECT_EQ(status().parked, 1U);
    EXPECT_EQ(turn(1).outcome, Outcome::moved);
    EXPECT_EQ(broker_.bursts, (Bursts{{"poison"}, {"1"}}));
    lone_.answered();
    commit({{"b", "2"}});
    clock_->advance(seconds(40));
    EXPECT_EQ(turn(1).outcome, Outcome::unanswered);
    EXPECT_EQ(turn(1).outcome, Outcome::moved);
    EXPECT_EQ(broker_.bursts, (Bursts{{"poison"}, {"1"}, {"poison"}, {"2"}}));
}

TEST_F(TurnTest, LeavesALoneMessageWhereNothingElseCouldBeTried) {
    broker_.verdicts = {{"poison", Verdict::unanswered}};
    commit({{"a", "poison"}});
    EXPECT_EQ(turn(1).outcome, Outcome::unanswered);
    EXPECT_EQ(status().parked, 0U);
    EXPECT_EQ(status().pending, 1U);
}

TEST_F(TurnTest, IsIdleWhenThereIsNothing) {
    EXPECT_EQ(turn().outcome, Outcome::idle);
    EXPECT_TRUE(broker_.bursts.empty());
}

TEST_F(TurnTest, DeliversABatchInOneBurstWhereTheBrokerKeepsOrder) {
    broker_.traits_value.keeps_order = true;
    commit({{"a", "a1"}, {"a", "a2"}, {"b", "b1"}});
    EXPECT_EQ(turn().outcome, Outcome::moved);
    EXPECT_EQ(broker_.bursts, (Bursts{{"a1", "a2", "b1"}}));
    EXPECT_EQ(turn().outcome, Outcome::idle);
    EXPECT_EQ(status().delivered, 3U);
}

TEST_F(TurnTest, KeepsOneMessagePerKeyInFlightOtherwise) {
    commit({{"a", "a1"}, {"a", "a2"}, {"b", "b1"}, {"", "x"}, {"", "y"}, {"a", "a3"}});
    EXPECT_EQ(turn().outcome, Outcome::moved);
    EXPECT_EQ(broker_.bursts, (Bursts{{"a1", "b1", "x", "y"}, {"a2"}, {"a3"}}));
}

TEST_F(TurnTest, StopsAKeyAtARefusedMessageAndNoOther) {
    broker_.verdicts["a1"] = Verdict::refused;
    commit({{"a", "a1"}, {"a", "a2"}, {"b", "b1"}, {"b", "b2"}});
    EXPECT_EQ(turn().outcome, Outcome::moved);
    EXPECT_EQ(broker_.bursts, (Bursts{{"a1", "b1"}, {"b2"}}));
    EXPECT_EQ(status().parked, 2U);
    broker_.verdicts.clear();
    broker_.bursts.clear();
    clock_->advance(seconds(1));
    while (turn().outcome == Outcome::moved) {
    }
    EXPECT_EQ(broker_.bursts, (Bursts{{"a1"}, {"a2"}}));
    EXPECT_EQ(status().parked, 0U);
}

TEST_F(TurnTest, LetsLaterMessagesPassUnderSkip) {
    destination_.on_failure = OnFailure::skip;
    broker_.verdicts["a1"] = Verdict::refused;
    commit({{"a", "a1"}, {"a", "a2"}});
    turn();
    EXPECT_EQ(broker_.bursts, (Bursts{{"a1"}, {"a2"}}));
    EXPECT_EQ(status().parked, 1U);
    EXPECT_EQ(status().delivered, 1U);
}

TEST_F(TurnTest, BuriesWhatIsUnacceptableAndGoesOn) {
    broker_.verdicts["a1"] = Verdict::unacceptable;
    commit({{"a", "a1"}, {"a", "a2"}});
    turn();
    EXPECT_EQ(broker_.bursts, (Bursts{{"a1"}, {"a2"}}));
    EXPECT_EQ(status().dead, 1U);
    EXPECT_EQ(status().delivered, 1U);
}

TEST_F(TurnTest, HoldsTheKeyOfADeadLetterIfAsked) {
    destination_.after_death = AfterDeath::hold;
    broker_.verdicts["a1"] = Verdict::unacceptable;
    commit({{"a", "a1"}, {"a", "a2"}});
    turn();
    EXPECT_EQ(broker_.bursts, (Bursts{{"a1"}}));
    EXPECT_EQ(status().dead, 1U);
    EXPECT_EQ(status().parked, 1U);
    EXPECT_EQ(turn().outcome, Outcome::idle);
}

TEST_F(TurnTest, DiesAfterTheLastTry) {
    destination_.retry.attempts_max = 3;
    broker_.verdicts["a1"] = Verdict::refused;
    commit({{"a", "a1"}});
    for (const std::uint64_t dead_after : {0U, 0U, 1U}) {
        turn();
        EXPECT_EQ(status().dead, dead_after);
        clock_->advance(seconds(100));
    }
    EXPECT_EQ(turn().outcome, Outcome::idle);
    EXPECT_EQ(broker_.bursts.size(), 3U);
}

TEST_F(TurnTest, ChargesNobodyForSilence) {
    destination_.retry.attempts_max = 1;
    broker_.verdicts["a1"] = Verdict::unanswered;
    commit({{"a", "a1"}, {"b", "b1"}});
    for (int i = 0; i < 5; ++i) EXPECT_EQ(turn().outcome, Outcome::unanswered);
    EXPECT_EQ(status().dead, 0U);
    broker_.verdicts.clear();
    EXPECT_EQ(turn().outcome, Outcome::moved);
    EXPECT_EQ(status().parked, 0U);
}

TEST_F(TurnTest, OffersNothingMoreOnceABrokerFallsSilent) {
    broker_.verdicts["a1"] = Verdict::unanswered;
    commit({{"a", "a1"}, {"b", "b1"}, {"b", "b2"}});
    const TurnReport report = turn();
    EXPECT_EQ(report.outcome, Outcome::unanswered);
    EXPECT_EQ(report.error.text, "because");
    EXPECT_EQ(broker_.bursts, (Bursts{{"a1", "b1"}}));
}

TEST_F(TurnTest, SettlesWhatWasAcknowledgedWhenAskedToStop) {
    broker_.after_burst = [this] { stop_.request_stop(); };
    commit({{"a", "a1"}, {"a", "a2"}, {"b", "b1"}});
    EXPECT_EQ(turn().outcome, Outcome::moved);
    EXPECT_EQ(broker_.bursts, (Bursts{{"a1", "b1"}}));
    stop_ = {};
    broker_.after_burst = nullptr;
    while (turn().outcome == Outcome::moved) {
    }
    EXPECT_EQ(broker_.bursts, (Bursts{{"a1", "b1"}, {"a2"}})) << "nothing twice, nothing lost";
}

TEST_F(TurnTest, SendsNothingAfterItsDeadline) {
    destination_.publish_deadline = seconds(5);
    broker_.after_burst = [this] { clock_->advance(seconds(5)); };
    commit({{"a", "a1"}, {"a", "a2"}});
    EXPECT_EQ(turn().outcome, Outcome::moved);
    EXPECT_EQ(broker_.bursts, (Bursts{{"a1"}}));
}

TEST_F(TurnTest, NeverOffersWhatIsTooLarge) {
    destination_.payload_bytes_max = 2;
    commit({{"a", "a1"}, {"a", "large"}, {"a", "a2"}});
    turn();
    EXPECT_EQ(broker_.bursts, (Bursts{{"a1"}, {"a2"}}));
    EXPECT_EQ(status().dead, 1U);
}

TEST_F(TurnTest, OffersOneByOneWhereTheBrokerSaysSo) {
    broker_.traits_value.burst_max = 1;
    commit({{"a", "a1"}, {"b", "b1"}, {"a", "a2"}});
    turn();
    EXPECT_EQ(broker_.bursts, (Bursts{{"a1"}, {"b1"}, {"a2"}}));
}

TEST_F(TurnTest, DelaysAMessageAndTheKeyBehindItOnly) {
    Message later;
    later.topic = "t";
    later.key = "a";
    later.payload = "later";
    later.deliver_after = clock_->wall() + seconds(60);
    database_->commit({later});
    commit({{"a", "a2"}, {"b", "b1"}});
    turn();
    EXPECT_EQ(broker_.bursts, (Bursts{{"b1"}}));
    const TurnReport waiting = turn();
    EXPECT_EQ(waiting.outcome, Outcome::idle);
    EXPECT_EQ(waiting.next_due, seconds(60));
    clock_->advance(seconds(60));
    while (turn().outcome == Outcome::moved) {
    }
    EXPECT_EQ(broker_.bursts, (Bursts{{"b1"}, {"later"}, {"a2"}}));
}

TEST_F(TurnTest, GoesOnWithTheNewMessagesOfAKeyThatCatchesUp) {
    broker_.verdicts["a1"] = Verdict::refused;
    commit({{"a", "a1"}});
    turn();
    broker_.verdicts.clear();
    broker_.bursts.clear();
    clock_->advance(seconds(1));
    commit({{"a", "a2"}});
    turn();
    EXPECT_EQ(broker_.bursts, (Bursts{{"a1"}, {"a2"}})) << "in one turn";
}

TEST_F(TurnTest, ReportsALostClaimAndLosesNothing) {
    commit({{"a", "a1"}});
    broker_.after_burst = [this] { database_->sever(*store_); };
    const TurnReport report = turn();
    EXPECT_EQ(report.outcome, Outcome::store_failed);
    EXPECT_EQ(report.error.remedy, Remedy::yield);
    broker_.after_burst = nullptr;
    store_.reset();
    EXPECT_EQ(turn().outcome, Outcome::moved);
    EXPECT_EQ(broker_.bursts, (Bursts{{"a1"}, {"a1"}}));
}

}  // namespace
}  // namespace outrider
