#include "stores/postgres/lane_moves.h"

#include <gtest/gtest.h>

namespace outrider {
namespace {

using postgres::Claim;
using postgres::LaneMoves;
using postgres::Window;

// A batch as the claim of two windows finds it: lanes 0 and 2 stand together, and so do 1 and 3.
class LaneMovesTest : public ::testing::Test {
protected:
    LaneMovesTest() {
        claim.windows = {window({7, 0}, {{0, 10}, {2, 12}}), window({9, 1}, {{1, 11}, {3, 13}})};
        claim.newest = 9;
        claim.windows[1].passed.snapshot = "6:6:";
    }

    static Window window(postgres::Origin origin, std::vector<postgres::LaneCount> lanes) {
        Window window;
        window.origin = origin;
        window.lanes = std::move(lanes);
        window.passed = {"5:5:", 20, {}};
        window.snapshot = "8:8:";
        window.floor = 30;
        window.floor_by = 7;
        window.upper = 90;
        window.next_floor = 95;
        window.read_to = 90;
        window.rows = 1;
        window.work = true;
        return window;
    }

    void take(std::uint32_t lane, std::int64_t seq, Fate fate, bool parked = false) {
        Envelope envelope;
        envelope.lane = lane;
        envelope.seq = seq;
        envelope.parked = parked;
        batch.envelopes.push_back(envelope);
        settlements.emplace_back().fate = fate;
    }

    // Each place as: lanes with their counts, then P, then what was read of a window, if it is
    // open.
    [[nodiscard]] std::vector<std::string> moved() const {
        std::vector<std::string> all;
        for (const auto& [stand, moved] : moves_of(batch, claim, settlements)) {
            const postgres::LaneTexts texts = postgres::texts_of(moved.lanes);
            std::string text = texts.lanes + texts.delivered + " " + stand.passed;
            if (stand.window) text += " up to " + std::to_string(stand.window->last);
            for (const postgres::Origin& origin : moved.origins) {
                text += " from " + std::to_string(origin.turn);
            }
            all.push_back(text);
        }
        return all;
    }

    Batch batch;
    Claim claim;
    std::vector<Settlement> settlements;
};

using Texts = std::vector<std::string>;

TEST_F(LaneMovesTest, LanesFromDifferentPlacesComeToStandTogether) {
    take(0, 40, Fate::done);
    take(3, 41, Fate::done);
    take(3, 42, Fate::dead);
    EXPECT_EQ(moved(), (Texts{"{0,1,2,3}{11,11,12,14} 8:8: from 7 from 9"}));
}

TEST_F(LaneMovesTest, ALaneStopsBeforeWhatWasLeft) {
    take(0, 40, Fate::done);
    take(0, 41, Fate::left);
    take(0, 42, Fate::left);
    take(1, 43, Fate::left);
    EXPECT_EQ(
        moved(),
        (Texts{
            "{0}{11} 5:5: up to 40 from 7",
            "{1}{11} 6:6: up to 42 from 9",
            "{2,3}{12,13} 8:8: from 7 from 9"})
    );
}

TEST_F(LaneMovesTest, AWindowThatWasCutStaysOpen) {
    claim.windows[0].cut = true;
    claim.windows[0].read_to = 60;
    take(2, 40, Fate::done);
    EXPECT_EQ(moved(), (Texts{"{0,2}{10,13} 5:5: up to 60 from 7", "{1,3}{11,13} 8:8: from 9"}));
}

// How far a lane was read before does not shrink: what was left then may lie behind what is left
// now.
TEST_F(LaneMovesTest, ALaneNeverGoesBack) {
    claim.windows[0].open = true;
    claim.windows[0].last = 50;
    claim.windows[1].rows = 0;
    claim.windows[1].next_floor = 1;
    take(0, 45, Fate::left);
    EXPECT_EQ(moved(), (Texts{"{0}{10} 5:5: up to 50 from 7", "{2}{12} 8:8: from 7"}));
}

// A window that is not worth a settle moves only where something that had waited was delivered.
TEST_F(LaneMovesTest, LanesWithNothingNewStayUnlessTheyDelivered) {
    for (Window& window : claim.windows) {
        window.rows = 0;
        window.next_floor = 1;
    }
    EXPECT_EQ(moved(), Texts{});
    take(2, 4, Fate::done, true);
    take(0, 5, Fate::again, true);
    EXPECT_EQ(moved(), (Texts{"{2}{13} 8:8: from 7"}));
}

// The next claim may be told where its lanes stand only if they stand together, all of them, and
// have nothing left to read.
TEST_F(LaneMovesTest, APlaceIsKnownWhereAllLanesStandTogether) {
    const auto place = [this](std::size_t locked) {
        return place_after(moves_of(batch, claim, settlements), locked, claim.newest, 55);
    };
    take(2, 40, Fate::done);
    const auto known = place(4);
    ASSERT_TRUE(known);
    EXPECT_EQ(known->origin, (postgres::Origin{10, 0}));
    EXPECT_EQ(postgres::texts_of(known->lanes).delivered, "{10,11,13,13}");
    EXPECT_EQ(known->passed.snapshot, "8:8:");
    EXPECT_EQ(known->passed.floor, 30);
    EXPECT_EQ(known->next_floor, 95);
    EXPECT_EQ(known->next_floor_by, 55U);
    EXPECT_FALSE(place(5)) << "one was not moved";
    claim.windows[0].next_floor = 96;
    EXPECT_FALSE(place(4)) << "two places";
    claim.windows.pop_back();
    EXPECT_TRUE(place(2));
    take(0, 41, Fate::left);
    EXPECT_FALSE(place(2)) << "something was left";
}

// Whoever is left among those that waited holds nobody back: they are not in the log any more.
TEST_F(LaneMovesTest, WhatWaitedStopsNoLane) {
    take(0, 4, Fate::left, true);
    take(0, 40, Fate::done);
    EXPECT_EQ(moved(), (Texts{"{0,1,2,3}{11,11,12,13} 8:8: from 7 from 9"}));
}

}  // namespace
}  // namespace outrider
