#include <algorithm>

#include "conformance/store_suite.h"
#include "support/random_bytes.h"

// Reading the log: what is claimed, in which order, within which limits, by whom.

namespace outrider {

Message StoreSuite::message(std::string topic, std::string key, std::string payload) {
    Message message;
    message.topic = std::move(topic);
    message.key = std::move(key);
    message.payload = std::move(payload);
    return message;
}

Destination StoreSuite::destination(std::string name) {
    Destination destination;
    destination.name = std::move(name);
    return destination;
}

std::unique_ptr<Store> StoreSuite::open(const Destination& destination) {
    Result<std::unique_ptr<Store>> store = driver_->open(destination);
    EXPECT_TRUE(store) << store.error().text;
    return std::move(store).value();
}

std::unique_ptr<StoreAdmin> StoreSuite::admin() {
    Result<std::unique_ptr<StoreAdmin>> admin = driver_->open_admin(StoreDriver::IfMissing::fail);
    EXPECT_TRUE(admin) << admin.error().text;
    return std::move(admin).value();
}

std::unique_ptr<Logbook> StoreSuite::logbook(std::uint64_t session, const std::string& name) {
    Result<std::unique_ptr<Logbook>> book = driver_->open_logbook(destination(name), session);
    EXPECT_TRUE(book) << book.error().text;
    return std::move(book).value();
}

DestinationStatus StoreSuite::status(const std::string& name) {
    const Result<Backlog> backlog = admin()->backlog({});
    EXPECT_TRUE(backlog) << backlog.error().text;
    for (const DestinationStatus& status : backlog->destinations) {
        if (status.name == name) return status;
    }
    ADD_FAILURE() << "no destination " << name;
    return {};
}

void StoreSuite::forget(const std::string& name) {
    const Result<bool> forgotten = admin()->forget(name);
    ASSERT_TRUE(forgotten) << forgotten.error().text;
    EXPECT_TRUE(*forgotten);
}

Batch StoreSuite::claim(Store& store, std::size_t messages, std::size_t bytes) {
    for (int turns = 0; turns < 1000; ++turns) {
        Result<Batch> claimed = store.claim({messages, bytes});
        EXPECT_TRUE(claimed) << claimed.error().text;
        Batch batch = std::move(claimed).value();
        if (!batch.envelopes.empty() || (!batch.passed && !batch.full)) return batch;
        if (!batch.passed) continue;
        const Result<void> settled = store.settle(std::move(batch), {});
        EXPECT_TRUE(settled) << settled.error().text;
    }
    ADD_FAILURE() << "a claim must come to an end of what it passes";
    return {};
}

void StoreSuite::clean(const std::vector<Store*>& stores, Duration retention) {
    for (int rounds = 0; rounds < 8; ++rounds) {
        const Result<std::uint64_t> removed = admin()->clean_up(retention, 100);
        ASSERT_TRUE(removed) << removed.error().text;
        for (Store* store : stores) EXPECT_TRUE(claim(*store).envelopes.empty());
    }
}

std::vector<std::string> StoreSuite::payloads(const Batch& batch) {
    std::vector<std::string> payloads;
    for (const Envelope& envelope : batch.envelopes) payloads.emplace_back(envelope.payload);
    return payloads;
}

void StoreSuite::settle(Store& store, Batch batch, const Judge& judge) {
    std::vector<Settlement> settlements;
    for (const Envelope& envelope : batch.envelopes) settlements.push_back(judge(envelope));
    const Result<void> settled = store.settle(std::move(batch), settlements);
    ASSERT_TRUE(settled) << settled.error().text;
}

std::vector<std::string> StoreSuite::deliver(Store& store, std::size_t messages) {
    Batch batch = claim(store, messages);
    std::vector<std::string> delivered = payloads(batch);
    if (!delivered.empty()) settle(store, std::move(batch), done);
    return delivered;
}

Settlement StoreSuite::done(const Envelope& /*envelope*/) {
    Settlement settlement;
    settlement.fate = Fate::done;
    return settlement;
}

Settlement StoreSuite::left(const Envelope& /*envelope*/) {
    return {};
}

Settlement StoreSuite::refused(const Envelope& envelope, Duration delay) const {
    Settlement settlement;
    settlement.fate = Fate::again;
    settlement.attempts = envelope.attempts + 1;
    settlement.refused_at = envelope.refused_at.value_or(harness_->clock->wall());
    settlement.due_at = harness_->clock->wall() + delay;
    settlement.park_key = envelope.order_key;
    settlement.reason = "refused";
    return settlement;
}

Settlement StoreSuite::behind(const Envelope& envelope) const {
    Settlement settlement;
    settlement.fate = Fate::again;
    settlement.attempts = envelope.attempts;
    settlement.due_at = harness_->clock->wall();
    settlement.park_key = envelope.order_key;
    return settlement;
}

Settlement StoreSuite::dead(const Envelope& envelope, bool holds_key) {
    Settlement settlement;
    settlement.fate = Fate::dead;
    settlement.attempts = envelope.attempts + 1;
    settlement.park_key = envelope.order_key;
    settlement.holds_key = holds_key;
    settlement.reason = "no good";
    return settlement;
}

using Payloads = std::vector<std::string>;

TEST_P(StoreSuite, ClaimsInTheOrderOfCommits) {
    harness_->commit({message("t", "k", "1"), message("t", "k", "2")});
    harness_->commit({message("t", "k", "3")});
    const auto store = open(destination());
    EXPECT_EQ(payloads(claim(*store)), (Payloads{"1", "2", "3"}));
}

TEST_P(StoreSuite, NeverShowsWhatWasRolledBack) {
    harness_->roll_back({message("t", "k", "phantom")});
    harness_->commit({message("t", "k", "real")});
    const auto store = open(destination());
    EXPECT_EQ(deliver(*store), Payloads{"real"});
    EXPECT_EQ(deliver(*store), Payloads{});
}

TEST_P(StoreSuite, HasNothingToClaimWhenEmpty) {
    const auto store = open(destination());
    const Batch batch = claim(*store);
    EXPECT_TRUE(batch.envelopes.empty());
    EXPECT_FALSE(batch.full);
    EXPECT_FALSE(batch.passed);
    EXPECT_FALSE(batch.held_elsewhere);
    EXPECT_FALSE(batch.paused);
    EXPECT_FALSE(batch.next_due);
}

TEST_P(StoreSuite, CarriesEveryFieldUnchanged) {
    Message full = message("orders.ü", "clé", std::string("\0\xff\xfe\x80 bytes", 10));
    full.type = "order.placed";
    full.content_type = "application/octet-stream";
    full.headers = {{"traceparent", "00-ab-cd-01"}, {"x-quote", "\"\\ ünï"}};
    full.id = MessageId::generate();
    full.occurred_at = WallTime(std::chrono::milliseconds(1'700'000'000'123));
    harness_->commit({full});
    const auto store = open(destination());
    const Batch batch = claim(*store);
    ASSERT_EQ(batch.envelopes.size(), 1U);
    const Envelope& envelope = batch.envelopes[0];
    EXPECT_EQ(envelope.id, *full.id);
    EXPECT_EQ(envelope.topic, full.topic);
    EXPECT_EQ(envelope.key, full.key);
    EXPECT_EQ(envelope.payload, full.payload);
    EXPECT_EQ(envelope.type, full.type);
    EXPECT_EQ(envelope.content_type, full.content_type);
    EXPECT_EQ(envelope.occurred_at, *full.occurred_at);
    std::vector<Header> headers;
    for (const HeaderView& header : envelope.headers) {
        headers.push_back({std::string(header.name), std::string(header.value)});
    }
    std::sort(headers.begin(), headers.end(), [](auto& a, auto& b) { return a.name < b.name; });
    EXPECT_EQ(headers, full.headers);
    EXPECT_TRUE(envelope.flaw.empty());
    EXPECT_EQ(envelope.attempts, 0U);
}

TEST_P(StoreSuite, CarriesRandomBytes) {
    RandomBytes random;
    SCOPED_TRACE("RANDOM_SEED=" + std::to_string(random.seed()));
    const std::vector<std::string> written = random.payloads();
    std::vector<Message> messages;
    for (const std::string& payload : written) messages.push_back(message("t", "k", payload));
    harness_->commit(messages);
    const auto store = open(destination());
    std::vector<std::string> read;
    for (std::vector<std::string> some; !(some = deliver(*store, 1000)).empty();) {
        std::move(some.begin(), some.end(), std::back_inserter(read));
    }
    ASSERT_EQ(read.size(), written.size());
    for (std::size_t i = 0; i < read.size(); ++i) ASSERT_EQ(read[i], written[i]);
}

TEST_P(StoreSuite, CarriesEmptyPayloadsAndMissingKeys) {
    harness_->commit({message("t", "", "")});
    const auto store = open(destination());
    const Batch batch = claim(*store);
    ASSERT_EQ(batch.envelopes.size(), 1U);
    EXPECT_EQ(batch.envelopes[0].payload, "");
    EXPECT_EQ(batch.envelopes[0].key, "");
    EXPECT_FALSE(batch.envelopes[0].id.is_nil());
}

TEST_P(StoreSuite, GivesBackAClaimThatIsDropped) {
    harness_->commit({message("t", "k", "1")});
    const auto store = open(destination());
    EXPECT_EQ(payloads(claim(*store)), Payloads{"1"});
    EXPECT_EQ(payloads(claim(*store)), Payloads{"1"});
}

TEST_P(StoreSuite, RemembersWhatWasSettledAcrossConnections) {
    harness_->commit({message("t", "k", "1")});
    EXPECT_EQ(deliver(*open(destination())), Payloads{"1"});
    harness_->commit({message("t", "k", "2")});
    EXPECT_EQ(deliver(*open(destination())), Payloads{"2"});
}

TEST_P(StoreSuite, StopsTheCursorBeforeWhatIsLeft) {
    harness_->commit({message("t", "a", "1"), message("t", "a", "2"), message("t", "a", "3")});
    const auto store = open(destination());
    settle(*store, claim(*store), [](const Envelope& envelope) {
        return envelope.payload == "1" ? done(envelope) : left(envelope);
    });
    EXPECT_EQ(payloads(claim(*store)), (Payloads{"2", "3"}));
}

TEST_P(StoreSuite, LimitsABatchByCount) {
    harness_->commit({message("t", "k", "1"), message("t", "k", "2"), message("t", "k", "3")});
    const auto store = open(destination());
    Batch batch = claim(*store, 2);
    EXPECT_EQ(payloads(batch), (Payloads{"1", "2"}));
    EXPECT_TRUE(batch.full);
    settle(*store, std::move(batch), done);
    EXPECT_EQ(deliver(*store, 2), Payloads{"3"});
}

TEST_P(StoreSuite, LimitsABatchByBytesButTakesOneLargeMessage) {
    const std::string large(5000, 'x');
    harness_->commit({message("t", "k", large), message("t", "k", "2"), message("t", "k", "3")});
    const auto store = open(destination());
    Batch batch = claim(*store, 100, 1000);
    EXPECT_EQ(payloads(batch), Payloads{large});
    EXPECT_TRUE(batch.full);
    settle(*store, std::move(batch), done);
    EXPECT_EQ(payloads(claim(*store, 100, 1000)), (Payloads{"2", "3"}));
}

TEST_P(StoreSuite, TakesOnlyTheTopicsOfTheDestination) {
    harness_->commit(
        {message("orders.placed", "k", "1"),
         message("mail", "k", "2"),
         message("orders.paid.late", "k", "3")}
    );
    Destination orders = destination("orders");
    orders.topics = {"orders.*"};
    const auto store = open(orders);
    EXPECT_EQ(sorted(deliver(*store)), (Payloads{"1", "3"}));
    EXPECT_EQ(deliver(*store), Payloads{});
}

TEST_P(StoreSuite, PassesManyMessagesOfOtherTopics) {
    for (int i = 0; i < 30; ++i) {
        harness_->commit(std::vector<Message>(100, message("other", "k", "x")));
    }
    harness_->commit({message("mine", "k", "found")});
    Destination mine = destination("mine");
    mine.topics = {"mine"};
    const auto store = open(mine);
    const Payloads found = deliver(*store, 10);
    EXPECT_EQ(found, Payloads{"found"});
    EXPECT_EQ(status("mine").pending, 0U);
}

TEST_P(StoreSuite, KeepsTheProgressOfDestinationsApart) {
    harness_->commit({message("t", "k", "1"), message("t", "k", "2")});
    const auto first = open(destination("first"));
    const auto second = open(destination("second"));
    EXPECT_EQ(deliver(*first), (Payloads{"1", "2"}));
    EXPECT_EQ(deliver(*first), Payloads{});
    EXPECT_EQ(deliver(*second), (Payloads{"1", "2"}));
}

TEST_P(StoreSuite, StartsANewDestinationAtTheOldestOrNow) {
    harness_->commit({message("t", "k", "1")});
    Destination late = destination("late");
    late.start = Start::now;
    const auto from_now = open(late);
    const auto from_oldest = open(destination("early"));
    harness_->commit({message("t", "k", "2")});
    EXPECT_EQ(deliver(*from_now), Payloads{"2"});
    EXPECT_EQ(deliver(*from_oldest), (Payloads{"1", "2"}));
}

TEST_P(StoreSuite, LetsOneStoreAtATimeHaveALane) {
    harness_->commit({message("t", "k", "1")});
    auto first = open(destination());
    const auto second = open(destination());
    Batch held = claim(*first);
    ASSERT_EQ(payloads(held), Payloads{"1"});
    const Batch refused = claim(*second);
    EXPECT_TRUE(refused.held_elsewhere);
    EXPECT_TRUE(refused.envelopes.empty());
    settle(*first, std::move(held), done);
    first.reset();
    harness_->commit({message("t", "k", "2")});
    EXPECT_EQ(deliver(*second), Payloads{"2"});
}

TEST_P(StoreSuite, LosesNothingWhenAStoreDiesWithAClaim) {
    harness_->commit({message("t", "k", "1")});
    {
        const auto store = open(destination());
        const Batch batch = claim(*store);
        EXPECT_EQ(payloads(batch), Payloads{"1"});
    }
    EXPECT_EQ(deliver(*open(destination())), Payloads{"1"});
}

TEST_P(StoreSuite, GivesKeysAnOrderAndKeylessMessagesNone) {
    harness_->commit(
        {message("t", "a", "1"),
         message("t", "a", "2"),
         message("t", "b", "3"),
         message("u", "a", "4"),
         message("t", "", "5"),
         message("t", "", "6")}
    );
    const auto by_key = open(destination("key"));
    const Batch batch = claim(*by_key);
    std::vector<Envelope> e = batch.envelopes;
    std::sort(e.begin(), e.end(), [](auto& a, auto& b) { return a.payload < b.payload; });
    ASSERT_EQ(e.size(), 6U);
    EXPECT_EQ(e[0].order_key, e[1].order_key);
    EXPECT_NE(e[0].order_key, e[2].order_key);
    EXPECT_NE(e[0].order_key, e[3].order_key);
    EXPECT_NE(e[4].order_key, e[5].order_key);
    EXPECT_LT(e[0].seq, e[1].seq);

    Destination global = destination("global");
    global.order = Order::global;
    const auto in_one_row = open(global);
    for (const Envelope& envelope : claim(*in_one_row).envelopes) EXPECT_EQ(envelope.order_key, 0);

    Destination none = destination("none");
    none.order = Order::none;
    const auto in_no_order = open(none);
    const Batch loose = claim(*in_no_order);
    EXPECT_NE(loose.envelopes[0].order_key, loose.envelopes[1].order_key);
}

TEST_P(StoreSuite, DrainsManyMessagesInPiecesWithoutLossOrRepeat) {
    Payloads expected;
    for (int i = 0; i < 50; ++i) {
        std::vector<Message> messages;
        for (int j = 0; j < 20; ++j) {
            expected.push_back(std::to_string(i * 20 + j));
            messages.push_back(message("t", "one", expected.back()));
        }
        harness_->commit(messages);
    }
    const auto store = open(destination());
    Payloads got;
    for (Payloads piece = deliver(*store, 7); !piece.empty(); piece = deliver(*store, 7)) {
        got.insert(got.end(), piece.begin(), piece.end());
    }
    EXPECT_EQ(got, expected);
}

}  // namespace outrider
