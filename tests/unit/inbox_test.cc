#include "outrider/inbox.h"

#include <gtest/gtest.h>

namespace outrider {
namespace {

using Position = std::optional<std::int64_t>;

TEST(InboxJudge, Table) {
    struct Case {
        const char* name;
        bool is_new;
        Position position;
        Position previous;
        std::int64_t missing;
        bool late;
    };
    const Case cases[] = {
        {"new, no position", true, {}, {}, 0, false},
        {"a repeat says nothing of its key", false, 9, 3, 0, false},
        {"the first that is known of a key", true, 9, {}, 0, false},
        {"the next one", true, 4, 3, 0, false},
        {"one is missing", true, 5, 3, 1, false},
        {"many are missing", true, 1000, 3, 996, false},
        {"the same position under another id", true, 3, 3, 0, true},
        {"an earlier one", true, 1, 3, 0, true},
        {"across zero", true, 1, -1, 1, false},
        {"the far end", true, INT64_MAX, INT64_MIN, INT64_MAX, false},
    };
    for (const Case& one : cases) {
        const Receipt receipt = judge(one.is_new, one.position, one.previous);
        EXPECT_EQ(receipt.first, one.is_new) << one.name;
        EXPECT_EQ(receipt.missing, one.missing) << one.name;
        EXPECT_EQ(receipt.late, one.late) << one.name;
    }
}

TEST(InboxArrival, ReadsThePositionFromItsHeader) {
    Delivery delivery;
    delivery.id = MessageId::generate();
    delivery.topic = "orders";
    delivery.key = "ada";
    EXPECT_FALSE(Arrival::of(delivery).position);
    for (const auto& [text, expected] : std::initializer_list<std::pair<const char*, Position>>{
             {"17", 17}, {"", {}}, {"17a", {}}, {"x", {}}, {"99999999999999999999", {}}}) {
        delivery.headers = {{"other", "1"}, {"position", text}};
        EXPECT_EQ(Arrival::of(delivery).position, expected) << text;
    }
    EXPECT_EQ(Arrival::of(delivery).id, delivery.id);
    EXPECT_EQ(Arrival::of(delivery).topic, "orders");
    EXPECT_EQ(Arrival::of(delivery).key, "ada");
}

}  // namespace
}  // namespace outrider
