#include "outrider/producer.h"

#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "outrider/error.h"
#include "outrider/testing.h"

namespace outrider {
namespace {

using testing::Fault;
using testing::MemoryBroker;

Message message(std::string key, std::string payload) {
    Message message;
    message.topic = "temperature";
    message.key = std::move(key);
    message.payload = std::move(payload);
    return message;
}

// A broker that treats messages by their payload.
std::shared_ptr<BrokerDriver> moody(const MemoryBroker& inner) {
    return testing::faulty_broker(inner.driver(), [](const Delivery& delivery) {
        if (delivery.payload == "refuse") return Fault::refuse;
        if (delivery.payload == "malformed") return Fault::unacceptable;
        return delivery.payload == "lose answer" ? Fault::lose_answer : Fault::none;
    });
}

TEST(Producer, SendsStraightToTheBrokerAndTellsWhatItSaid) {
    const MemoryBroker broker;
    Producer producer(broker.driver());
    Message hot = message("hall", "21");
    hot.type = "reading";
    hot.headers = {{"unit", "C"}};
    const Sent sent = producer.send(hot);
    EXPECT_TRUE(sent);
    EXPECT_TRUE(sent.answer.reason.empty());
    ASSERT_EQ(broker.received().size(), 1U);
    const testing::Received received = broker.received().front();
    EXPECT_EQ(received.id, sent.id);
    EXPECT_FALSE(received.id.is_nil());
    EXPECT_EQ(received.key, "hall");
    EXPECT_EQ(received.type, "reading");
    EXPECT_EQ(received.headers, hot.headers);
}

TEST(Producer, KeepsTheIdItWasGiven) {
    const MemoryBroker broker;
    Producer producer(broker.driver());
    Message again = message("hall", "21");
    again.id = MessageId::generate();
    EXPECT_EQ(producer.send(again).id, *again.id);
    EXPECT_EQ(broker.received().front().id, *again.id);
}

TEST(Producer, ReportsEveryVerdictAsItIs) {
    const MemoryBroker broker;
    Producer producer(moody(broker));
    const auto verdict = [&](const char* payload) {
        return producer.send(message("k", payload)).answer.verdict;
    };
    EXPECT_EQ(verdict("fine"), Verdict::acknowledged);
    EXPECT_EQ(verdict("refuse"), Verdict::refused);
    EXPECT_EQ(verdict("malformed"), Verdict::unacceptable);
    EXPECT_EQ(verdict("lose answer"), Verdict::unanswered);
    EXPECT_EQ(verdict("fine again"), Verdict::acknowledged) << "a failure is not remembered";
    EXPECT_EQ(broker.received().size(), 3U) << "the one whose answer was lost has arrived";
}

TEST(Producer, SendsNothingOfAKeyBehindAFailureOfIt) {
    const MemoryBroker broker;
    Producer producer(moody(broker));
    const std::vector<Message> messages = {
        message("a", "1"),
        message("a", "refuse"),
        message("b", "2"),
        message("a", "3"),
        message("b", "4")};
    const std::vector<Sent> sent = producer.send(messages);
    ASSERT_EQ(sent.size(), 5U);
    EXPECT_TRUE(sent[0] && sent[2] && sent[4]);
    EXPECT_EQ(sent[1].answer.verdict, Verdict::refused);
    EXPECT_EQ(sent[3].answer.verdict, Verdict::unanswered);
    EXPECT_NE(sent[3].answer.reason.find("not sent"), std::string::npos);
    EXPECT_EQ(broker.received().size(), 3U);
}

// The broker holds the first call until the second has come back, or nothing else helps.
TEST(Producer, ACallWaitsForOthersNoLongerThanItsOwnDeadline) {
    const MemoryBroker broker;
    std::promise<void> held;
    std::promise<void> second_is_back;
    bool first = true;
    const auto rule = [&](const Delivery&) {
        if (!std::exchange(first, false)) return Fault::none;
        held.set_value();
        second_is_back.get_future().wait_for(std::chrono::seconds(20));
        return Fault::none;
    };
    ProducerOptions options;
    options.publish_deadline = std::chrono::seconds(1);
    Producer producer(testing::faulty_broker(broker.driver(), rule), options);
    std::thread holder([&] {
        while (!producer.send(message("a", "1"))) {
        }
    });
    held.get_future().wait();
    const Sent second = producer.send(message("b", "2"));
    second_is_back.set_value();
    holder.join();
    EXPECT_EQ(second.answer.verdict, Verdict::unanswered);
    EXPECT_NE(second.answer.reason.find("not sent"), std::string::npos) << second.answer.reason;
    EXPECT_EQ(broker.received().size(), 1U);
}

TEST(Producer, RefusesWhatOnlyAnOutboxCanDo) {
    const MemoryBroker broker;
    Producer producer(broker.driver());
    Message later = message("k", "x");
    later.deliver_after = WallTime{};
    const std::vector<Message> both = {message("k", "fine"), later};
    EXPECT_THROW(producer.send(both), Failure);
    EXPECT_THROW(producer.send(Message{}), Failure) << "no topic";
    EXPECT_TRUE(producer.send(std::span<const Message>{}).empty());
    EXPECT_TRUE(broker.received().empty()) << "all are checked before the first is sent";
}

}  // namespace
}  // namespace outrider
