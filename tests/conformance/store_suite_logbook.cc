#include "conformance/store_suite.h"

// Who is there, who has ended, and what was in hand.

namespace outrider {

namespace {

using Marks = std::vector<Mark>;

Page page(Marks marks, std::vector<std::int64_t> erased = {}, bool unexplained = false) {
    return {std::move(marks), std::move(erased), unexplained};
}

}  // namespace

TEST_P(StoreSuite, ALogbookKnowsThatNobodyWasThere) {
    const auto store = open(destination());
    const auto book = logbook(1);
    const Result<Legacy> legacy = book->enter();
    ASSERT_TRUE(legacy) << legacy.error().text;
    EXPECT_EQ(legacy->ended, 0U);
    EXPECT_FALSE(legacy->unexplained);
    EXPECT_TRUE(legacy->marks.empty());
}

TEST_P(StoreSuite, ALogbookTellsAnOrderlyStopFromAnUncleanEnd) {
    const auto store = open(destination());
    {
        const auto book = logbook(1);
        ASSERT_TRUE(book->enter());
        ASSERT_TRUE(book->leave());
    }
    {
        const auto book = logbook(2);
        EXPECT_EQ(book->enter()->ended, 0U);
    }
    const auto book = logbook(3);
    EXPECT_EQ(book->enter()->ended, 1U);
    // The second was inherited, and the third lives, where one can know.
    EXPECT_EQ(logbook(4)->enter()->ended, harness_->knows_the_living() ? 0U : 1U);
}

TEST_P(StoreSuite, ALogbookHandsDownWhatWasInHandOnce) {
    const auto store = open(destination());
    {
        const auto book = logbook(1);
        ASSERT_TRUE(book->enter());
        ASSERT_TRUE(book->write(page({{5, 0, true}, {6, 2, false}}, {}, true)));
    }
    const auto second = logbook(2);
    const Result<Legacy> legacy = second->enter();
    ASSERT_TRUE(legacy) << legacy.error().text;
    EXPECT_EQ(legacy->ended, 1U);
    EXPECT_TRUE(legacy->unexplained);
    EXPECT_EQ(legacy->marks, (Marks{{5, 0, true}, {6, 2, false}}));
    const auto third = logbook(3);
    const Marks nobodys{{6, 2, false}};  // five is in a living hand now
    EXPECT_EQ(third->enter()->marks, harness_->knows_the_living() ? nobodys : legacy->marks);
}

TEST_P(StoreSuite, ALogbookChangesAndErasesMarks) {
    const auto store = open(destination());
    {
        const auto book = logbook(1);
        ASSERT_TRUE(book->enter());
        ASSERT_TRUE(book->write(page({{5, 1, true}, {6, 0, true}, {7, 1, false}})));
        ASSERT_TRUE(book->write(page({{5, 2, false}}, {6, 99})));
        ASSERT_TRUE(book->write(page({{8, 0, true}}, {}, true)));
        ASSERT_TRUE(book->write(page({}, {}, false)));
    }
    const auto book = logbook(2);
    const Result<Legacy> legacy = book->enter();
    ASSERT_TRUE(legacy);
    EXPECT_EQ(legacy->marks, (Marks{{5, 2, false}, {7, 1, false}, {8, 0, true}}));
    EXPECT_FALSE(legacy->unexplained) << "the last page holds";
}

TEST_P(StoreSuite, ALogbookLeavesItsMarksToNobody) {
    const auto store = open(destination());
    {
        const auto book = logbook(1);
        ASSERT_TRUE(book->enter());
        ASSERT_TRUE(book->write(page({{5, 2, false}, {6, 1, true}})));
        ASSERT_TRUE(book->leave());
    }
    const auto book = logbook(2);
    const Result<Legacy> legacy = book->enter();
    ASSERT_TRUE(legacy);
    EXPECT_EQ(legacy->ended, 0U);
    EXPECT_EQ(legacy->marks, (Marks{{5, 2, false}, {6, 1, false}}));
}

TEST_P(StoreSuite, ASessionThatComesBackIsNotItsOwnHeir) {
    const auto store = open(destination());
    {
        const auto lost = logbook(1);
        ASSERT_TRUE(lost->enter());
        ASSERT_TRUE(lost->write(page({{5, 1, true}})));
    }
    const auto again = logbook(1);
    const Result<Legacy> legacy = again->enter();
    ASSERT_TRUE(legacy) << legacy.error().text;
    EXPECT_EQ(legacy->ended, 0U);
    EXPECT_TRUE(legacy->marks.empty()) << "it is still in its own hand";
}

TEST_P(StoreSuite, LogbooksOfDestinationsDoNotKnowEachOther) {
    const auto one = open(destination("one"));
    const auto two = open(destination("two"));
    {
        const auto book = logbook(1, "one");
        ASSERT_TRUE(book->enter());
        ASSERT_TRUE(book->write(page({{5, 1, true}})));
    }
    const auto other = logbook(2, "two");
    EXPECT_EQ(other->enter()->ended, 0U);
    EXPECT_TRUE(logbook(3, "two")->enter()->marks.empty());
    EXPECT_EQ(logbook(4, "one")->enter()->ended, 1U);
}

TEST_P(StoreSuite, ALogbookFindsADestinationThatWasForgottenAndIsKnownAgain) {
    auto store = open(destination());
    const auto kept = logbook(1);
    ASSERT_TRUE(kept->enter());
    store.reset();
    forget();
    EXPECT_FALSE(kept->enter());
    const auto other = open(destination("other"));  // so that no number is used again
    store = open(destination());
    ASSERT_TRUE(kept->enter());
    ASSERT_TRUE(kept->write(page({{5, 1, false}})));
    ASSERT_TRUE(kept->leave());
    const auto next = logbook(2);
    EXPECT_EQ(next->enter()->marks, (Marks{{5, 1, false}}));
}

TEST_P(StoreSuite, ForgettingADestinationForgetsItsLogbook) {
    {
        const auto store = open(destination());
        const auto book = logbook(1);
        ASSERT_TRUE(book->enter());
        ASSERT_TRUE(book->write(page({{5, 1, true}})));
    }
    forget();
    const auto store = open(destination());
    const auto book = logbook(2);
    const Result<Legacy> legacy = book->enter();
    ASSERT_TRUE(legacy) << legacy.error().text;
    EXPECT_EQ(legacy->ended, 0U);
    EXPECT_TRUE(legacy->marks.empty());
}

}  // namespace outrider
