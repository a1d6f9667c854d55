// Typed events: JSON and binary, and versions.

#include "outrider/json.h"

#include <cstring>

#include <gtest/gtest.h>

#include "outrider/testing.h"

#include "app/unit_suite.h"

namespace shop {

struct OrderPlaced {
    std::string customer;
    int order = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OrderPlaced, customer, order)

outrider::Message to_message(const OrderPlaced& event) {
    return outrider::json_message("orders", event.customer, "order.placed.v1", event);
}

// The second version reads the first: what is new has a default.
struct OrderPlaced2 {
    std::string customer;
    int order = 0;
    std::string channel = "web";
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(OrderPlaced2, customer, order, channel)

struct Measured {
    double celsius = 0;
};

outrider::Message to_message(const Measured& event) {
    outrider::Message message;
    message.topic = "weather";
    message.type = "measured.v1";
    message.content_type = "application/octet-stream";
    message.payload.assign(reinterpret_cast<const char*>(&event), sizeof event);
    return message;
}

}  // namespace shop

namespace outrider {
namespace {

TEST(TypedEvents, GoAsJsonAndComeBack) {
    testing::MemoryStore store;
    auto unit = begin(store);
    unit.enqueue(shop::OrderPlaced{"ada", 17});
    EXPECT_EQ(
        testing::difference(
            unit.pending(),
            {{.topic = "orders",
              .key = "ada",
              .type = "order.placed.v1",
              .payload = R"({"customer":"ada","order":17})",
              .content_type = "application/json"}}
        ),
        ""
    );
    EXPECT_EQ(read_json<shop::OrderPlaced>(unit.pending()[0].payload).order, 17);
}

TEST(TypedEvents, GoAsBytesAndComeBack) {
    testing::MemoryStore store;
    const testing::MemoryBroker broker;
    auto unit = begin(store);
    unit.enqueue(shop::Measured{-12.5});
    unit.commit();
    testing::drain(store.driver(), broker.driver());
    ASSERT_EQ(broker.received().size(), 1U);
    shop::Measured read;
    ASSERT_EQ(broker.received()[0].payload.size(), sizeof read);
    std::memcpy(&read, broker.received()[0].payload.data(), sizeof read);
    EXPECT_EQ(read.celsius, -12.5);
}

TEST(TypedEvents, EvolveByFieldsWithDefaults) {
    const auto old = read_json<shop::OrderPlaced2>(R"({"customer":"ada","order":1})");
    EXPECT_EQ(old.channel, "web");
    const auto newer = read_json<shop::OrderPlaced>(R"({"customer":"a","order":1,"channel":"x"})");
    EXPECT_EQ(newer.order, 1);
}

TEST(TypedEvents, SayWhatDoesNotFit) {
    EXPECT_SAYS(app_failure([] { (void)read_json<shop::OrderPlaced>("{"); }), "does not fit");
    EXPECT_SAYS(app_failure([] { (void)read_json<shop::OrderPlaced>("{}"); }), "customer");
    EXPECT_SAYS(
        app_failure([] {
            (void)to_message(shop::OrderPlaced{"\xff", 1});
        }),
        "order.placed.v1 does not become JSON"
    );
}

TEST(EventType, TakesNameAndVersionApart) {
    EXPECT_EQ(event_type("order.placed.v2"), (EventType{"order.placed", 2}));
    EXPECT_EQ(event_type("order.placed"), (EventType{"order.placed", 1}));
    EXPECT_EQ(event_type("a.v1.v12"), (EventType{"a.v1", 12}));
    for (const char* odd :
         {"", ".v", "a.v", "a.v0", "a.v1x", "a.v-1", "a.v99999999999", "a.version"}) {
        EXPECT_EQ(event_type(odd), (EventType{odd, 1})) << odd;
    }
}

}  // namespace
}  // namespace outrider
