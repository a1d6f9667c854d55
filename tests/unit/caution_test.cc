#include "relay/caution.h"

#include <gtest/gtest.h>

#include "stores/memory/database.h"
#include "support/manual_clock.h"

namespace outrider {
namespace {

// A destination with a memory store, and sessions that end as they like.
class CautionTest : public ::testing::Test {
protected:
    CautionTest() : store_(*database_->open(destination_)) {}

    static Destination make_destination() {
        Destination destination;
        destination.name = "on:all";
        destination.batch.messages = 5;
        return destination;
    }

    std::unique_ptr<Caution> start() {
        auto caution = std::make_unique<Caution>(destination_, *driver_, *clock_);
        EXPECT_TRUE(caution->enter());
        return caution;
    }

    // The one before is gone without a word, unless it has left.
    void restart(std::unique_ptr<Caution>& caution) {
        caution.reset();
        caution = start();
    }

    static Envelope message(std::int64_t seq) {
        Envelope envelope;
        envelope.seq = seq;
        return envelope;
    }

    // Hands the message over, and the process survives it.
    static void handle(Caution& caution, std::int64_t seq) {
        EXPECT_FALSE(caution.admit(message(seq)));
        caution.survived(message(seq));
    }

    // A store that keeps the lanes of those who ended for a while.
    class LaggingDriver;

    const Destination destination_ = make_destination();
    const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
    const std::shared_ptr<MemoryDatabase> database_ =
        std::make_shared<MemoryDatabase>(MemoryDatabase::Options{}, clock_);
    StoreDriver* driver_ = database_.get();
    Result<std::unique_ptr<Store>> store_;
};

TEST_F(CautionTest, CostsNothingWhileAllIsWell) {
    auto caution = start();
    EXPECT_FALSE(caution->is_careful());
    for (std::int64_t seq = 1; seq <= 20; ++seq) handle(*caution, seq);
    const auto reader = std::move(database_->open_logbook(destination_, 99)).value();
    EXPECT_TRUE(reader->enter()->marks.empty());
    ASSERT_TRUE(reader->leave());
    caution->leave();
    EXPECT_FALSE(start()->is_careful());
}

TEST_F(CautionTest, RefusesAMessageThatWasInHandAtThreeEnds) {
    auto caution = start();
    EXPECT_FALSE(caution->admit(message(7)));
    for (int ends = 1; ends <= 2; ++ends) {
        restart(caution);
        EXPECT_TRUE(caution->is_careful());
        handle(*caution, 6);
        EXPECT_FALSE(caution->admit(message(7))) << "after " << ends;
    }
    restart(caution);
    handle(*caution, 6);
    const std::optional<Answer> answer = caution->admit(message(7));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->verdict, Verdict::refused);
    EXPECT_EQ(answer->reason, reason_of(3));
    handle(*caution, 8);
    // Its next try is due: it may be handed over once more, and a single end is enough.
    EXPECT_FALSE(caution->admit(message(7)));
    restart(caution);
    EXPECT_TRUE(caution->admit(message(7)));
    // When it goes well at last, all is forgotten.
    EXPECT_FALSE(caution->admit(message(7)));
    caution->survived(message(7));
    caution->turn_over(this, true);
    caution->leave();
    restart(caution);
    EXPECT_FALSE(caution->is_careful());
    handle(*caution, 7);
}

TEST_F(CautionTest, IsCarefulUntilThePlaceIsPassed) {
    static_cast<void>(start());
    auto caution = start();
    for (std::int64_t seq = 1; seq <= 4; ++seq) handle(*caution, seq);
    EXPECT_TRUE(caution->is_careful()) << "five messages may have been in flight";
    handle(*caution, 5);
    EXPECT_FALSE(caution->is_careful());
}

class LaggingBook final : public Logbook {
public:
    explicit LaggingBook(std::unique_ptr<Logbook> inner) : inner_(std::move(inner)) {}

    [[nodiscard]] Result<Legacy> enter() override {
        Result<Legacy> legacy = inner_->enter();
        if (legacy) legacy->lag = std::chrono::seconds(5);
        return legacy;
    }
    [[nodiscard]] Result<void> write(const Page& page) override { return inner_->write(page); }
    [[nodiscard]] Result<void> leave() override { return inner_->leave(); }

private:
    std::unique_ptr<Logbook> inner_;
};

class CautionTest::LaggingDriver final : public StoreDriver {
public:
    explicit LaggingDriver(StoreDriver& inner) : inner_(inner) {}

    [[nodiscard]] Result<std::unique_ptr<Store>> open(const Destination& destination) override {
        return inner_.open(destination);
    }
    [[nodiscard]] Result<std::unique_ptr<StoreAdmin>> open_admin(IfMissing if_missing) override {
        return inner_.open_admin(if_missing);
    }
    [[nodiscard]] std::unique_ptr<Waker> make_waker(Observer& observer) override {
        return inner_.make_waker(observer);
    }
    [[nodiscard]] Result<std::unique_ptr<Logbook>> open_logbook(
        const Destination& destination,
        std::uint64_t session
    ) override {
        Result<std::unique_ptr<Logbook>> book = inner_.open_logbook(destination, session);
        if (!book) return book;
        return std::unique_ptr<Logbook>(std::make_unique<LaggingBook>(std::move(book).value()));
    }

private:
    StoreDriver& inner_;
};

TEST_F(CautionTest, IsCarefulForAsLongAsLanesMayBeKeptByTheDead) {
    LaggingDriver lagging(*database_);
    driver_ = &lagging;
    static_cast<void>(start());
    auto caution = start();
    for (std::int64_t seq = 1; seq <= 20; ++seq) handle(*caution, seq);
    caution->turn_over(this, true);
    EXPECT_TRUE(caution->is_careful()) << "what was in flight may not be visible yet";
    clock_->advance(std::chrono::seconds(5));
    for (std::int64_t seq = 21; seq <= 24; ++seq) handle(*caution, seq);
    EXPECT_TRUE(caution->is_careful());
    handle(*caution, 25);
    EXPECT_FALSE(caution->is_careful());
}

TEST_F(CautionTest, IsCarefulUntilNothingIsLeft) {
    static_cast<void>(start());
    auto caution = start();
    handle(*caution, 1);
    caution->turn_over(this, false);
    EXPECT_TRUE(caution->is_careful());
    caution->turn_over(this, true);
    EXPECT_FALSE(caution->is_careful());
}

TEST_F(CautionTest, AnEndBehindThePlaceBeginsAnew) {
    static_cast<void>(start());
    auto caution = start();
    caution->turn_over(this, true);
    EXPECT_FALSE(caution->admit(message(7))) << "not marked: all seems well";
    restart(caution);
    EXPECT_TRUE(caution->is_careful());
    EXPECT_FALSE(caution->admit(message(7)));
    restart(caution);
    EXPECT_FALSE(caution->admit(message(7)));
    restart(caution);
    EXPECT_TRUE(caution->admit(message(7)));
}

TEST_F(CautionTest, AnOrderlyStopInCarefulTimesClearsTheHand) {
    static_cast<void>(start());
    auto caution = start();
    handle(*caution, 7);
    caution->leave();
    restart(caution);
    EXPECT_FALSE(caution->is_careful());
    EXPECT_FALSE(caution->admit(message(7)));
}

TEST_F(CautionTest, HandsNothingOverThatCannotBeMarked) {
    static_cast<void>(start());
    auto caution = start();
    const auto admin = std::move(database_->open_admin(StoreDriver::IfMissing::fail)).value();
    ASSERT_TRUE(*admin->forget("on:all"));
    const std::optional<Answer> answer = caution->admit(message(1));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->verdict, Verdict::unanswered);
    EXPECT_FALSE(caution->is_entered());
    EXPECT_FALSE(caution->enter());
    store_ = database_->open(destination_);
    EXPECT_TRUE(caution->enter());
    handle(*caution, 1);
}

}  // namespace
}  // namespace outrider
