#include "outrider/message.h"

#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "outrider/destination.h"
#include "outrider/error.h"

#include "core/hash.h"

namespace outrider {
namespace {

Message valid() {
    Message message;
    message.topic = "orders";
    message.payload = "x";
    return message;
}

TEST(MessageId, IsAUuidOfVersion7ThatRises) {
    MessageId last;
    for (int i = 0; i < 10'000; ++i) {
        const MessageId id = MessageId::generate();
        ASSERT_LT(last, id);
        last = id;
    }
    const std::string text = last.to_string();
    EXPECT_EQ(text.size(), 36U);
    EXPECT_EQ(text[14], '7');
    EXPECT_NE(std::string("89ab").find(text[19]), std::string::npos);
}

TEST(MessageId, ReadsWhatItWrites) {
    const MessageId id = MessageId::generate();
    EXPECT_EQ(MessageId::parse(id.to_string()), id);
    EXPECT_EQ(
        MessageId::parse("0189F7EA-AE2C-7809-8AEB-B819CF5E9E7F"),
        MessageId::parse("0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f")
    );
    const char* bad[] = {
        "",
        "x",
        "0189f7ea-ae2c-7809-8aeb-b819cf5e9e7",
        "0189f7ea-ae2c-7809-8aeb-b819cf5e9e7g",
        "0189f7eaXae2c-7809-8aeb-b819cf5e9e7f",
        "0189f7ea-ae2c-7809-8aeb-b819cf5e9e7ff"};
    for (const char* text : bad) EXPECT_FALSE(MessageId::parse(text)) << text;
}

struct BadMessage {
    const char* field;
    std::function<void(Message&)> spoil;
};

TEST(Message, IsRefusedWithTheNameOfTheBadField) {
    const BadMessage cases[] = {
        {"topic", [](Message& m) { m.topic = ""; }},
        {"topic", [](Message& m) { m.topic = std::string(256, 't'); }},
        {"topic", [](Message& m) { m.topic = "\xff"; }},
        {"topic", [](Message& m) { m.topic = std::string("a\0b", 3); }},
        {"key", [](Message& m) { m.key = std::string(1025, 'k'); }},
        {"key", [](Message& m) { m.key = "\xc0\x80"; }},
        {"type", [](Message& m) { m.type = "a\nb"; }},
        {"content_type", [](Message& m) { m.content_type = "a\r\nX-Evil: 1"; }},
        {"payload", [](Message& m) { m.payload = std::string((1U << 20U) + 1, 'p'); }},
        {"headers",
         [](Message& m) {
             m.headers = {{"", "v"}};
         }},
        {"headers",
         [](Message& m) {
             m.headers = {{"a\nb", "v"}};
         }},
        {"headers",
         [](Message& m) {
             m.headers = {{"a", "v\r\n"}};
         }},
        {"headers",
         [](Message& m) {
             m.headers.assign(65, {"a", "b"});
         }},
        {"headers has 'a' twice",
         [](Message& m) {
             m.headers = {{"a", "1"}, {"b", "2"}, {"a", "3"}};
         }},
        {"id", [](Message& m) { m.id = MessageId{}; }},
        {"occurred_at", [](Message& m) { m.occurred_at = WallTime::min(); }},
        {"deliver_after", [](Message& m) { m.deliver_after = WallTime::max(); }},
    };
    for (const BadMessage& bad : cases) {
        Message message = valid();
        bad.spoil(message);
        try {
            validate(message);
            ADD_FAILURE() << bad.field << " was accepted";
        } catch (const Failure& failure) {
            EXPECT_EQ(failure.remedy(), Remedy::correct);
            EXPECT_NE(std::string(failure.what()).find(bad.field), std::string::npos)
                << failure.what();
        }
    }
}

TEST(Message, IsAcceptedAtItsLimits) {
    Message message = valid();
    message.topic = std::string(kTopicBytesMax, 't');
    message.key = std::string(kKeyBytesMax, 'k');
    message.payload = std::string(1U << 20U, '\0');
    for (std::size_t i = 0; i < kHeadersMax; ++i)
        message.headers.push_back({std::to_string(i), ""});
    EXPECT_NO_THROW(validate(message));
    message.payload += 'x';
    EXPECT_THROW(validate(message), Failure);
    EXPECT_NO_THROW(validate(message, {.payload_bytes_max = 2U << 20U}));
    message.payload.resize(kPayloadBytesCeiling + 1);
    EXPECT_THROW(validate(message, {.payload_bytes_max = 1U << 30U}), Failure);
}

TEST(Destination, IsRefusedWhenItMakesNoSense) {
    const std::function<void(Destination&)> spoilers[] = {
        [](Destination& d) { d.name = ""; },
        [](Destination& d) { d.name = std::string(64, 'x'); },
        [](Destination& d) { d.name = "a b"; },
        [](Destination& d) { d.name = "a'; drop table x"; },
        [](Destination& d) { d.topics.clear(); },
        [](Destination& d) { d.topics = {""}; },
        [](Destination& d) { d.batch.messages = 0; },
        [](Destination& d) { d.batch.bytes = 0; },
        [](Destination& d) { d.workers = 0; },
        [](Destination& d) { d.retry.jitter = 1.5; },
        [](Destination& d) { d.retry.delay_first = Duration::zero(); },
        [](Destination& d) { d.retry.delay_max = Duration(1); },
        [](Destination& d) { d.publish_deadline = Duration::zero(); },
        [](Destination& d) { d.outage_delay_max = Duration(1); },
    };
    for (const auto& spoil : spoilers) {
        Destination destination;
        destination.name = "orders";
        EXPECT_NO_THROW(validate(destination));
        spoil(destination);
        EXPECT_THROW(validate(destination), Failure);
    }
}

TEST(OrderKey, TellsTopicAndKeyApart) {
    const auto key = [](const char* topic, const char* k) {
        return order_key(Order::key, topic, k, 1);
    };
    EXPECT_NE(key("ab", "c"), key("a", "bc"));
    EXPECT_NE(key("a", "b"), key("b", "a"));
    EXPECT_EQ(order_key(Order::key, "a", "b", 1), order_key(Order::key, "a", "b", 2));
    EXPECT_NE(order_key(Order::key, "a", "", 1), order_key(Order::key, "a", "", 2));
    EXPECT_EQ(order_key(Order::none, "a", "b", 7), own_order_key(7));
    EXPECT_EQ(order_key(Order::global, "a", "b", 7), order_key(Order::global, "c", "d", 8));
    std::set<OrderKey> seen;
    for (int i = 0; i < 100'000; ++i)
        seen.insert(order_key(Order::key, "t", std::to_string(i).c_str(), 1));
    EXPECT_EQ(seen.size(), 100'000U);
}

}  // namespace
}  // namespace outrider
