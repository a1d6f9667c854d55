#include "relay/settle_plan.h"

#include <map>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace outrider {
namespace {

const WallTime kPlanned{std::chrono::hours(500'000)};

// One letter per message: d done, a again, x dead, . open. A capital before it is its key; '|'
// starts what comes from the log, everything before it is parked.
struct Scene {
    Batch batch;
    std::vector<Settlement> settlements;
};

Fate fate_of(char letter) {
    switch (letter) {
        case 'd':
            return Fate::done;
        case 'a':
            return Fate::again;
        case 'x':
            return Fate::dead;
        default:
            return Fate::left;
    }
}

Scene scene(const std::string& text) {
    Scene scene;
    scene.batch.now = kPlanned;
    bool parked = text.find('|') != std::string::npos;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '|') {
            parked = false;
            continue;
        }
        Envelope envelope;
        envelope.seq = static_cast<std::int64_t>(scene.batch.envelopes.size()) + 1;
        envelope.order_key = text[i];
        envelope.parked = parked;
        const char letter = text[++i];
        envelope.blocked = letter == 'b';
        if (letter == 'l') envelope.deliver_after = kPlanned + std::chrono::seconds(5);
        scene.batch.envelopes.push_back(envelope);
        Settlement settlement;
        settlement.fate = fate_of(letter);
        scene.settlements.push_back(settlement);
    }
    return scene;
}

std::string completed(const std::string& text, const Destination& destination) {
    Scene made = scene(text);
    complete(made.batch, destination, made.settlements);
    std::string fates;
    for (const Settlement& settlement : made.settlements) {
        fates += std::string(".dax")[static_cast<std::size_t>(settlement.fate)];
    }
    return fates;
}

TEST(SettlePlan, CompletesWhatTheAnswersLeaveOpen) {
    struct Case {
        const char* given;
        const char* expected;
    };
    Destination block;
    block.name = "d";
    const Case cases[] = {
        {"AdBdCd", "ddd"},     // all is well
        {"A.B.C.", "..."},     // an outage leaves everything
        {"AdB.C.", "d.."},     // the cursor stops at the first open one
        {"A.BdC.", "ad."},     // an open one before an answer is parked, behind it left
        {"A.A.BdA.", "aad."},  // with all of its key that the cursor passes
        {"AaAbBd", "aad"},     // blocked behind a refused one is parked too
        {"AaA.Bd", "aad"},     // not offered since its key has stopped
        {"AaA.B.", "aa."},     // the open one ends it, what waits before it is parked
        {"AbBd", "ad"},        // held back by something outside the batch
        {"AbB.", "a."},        //
        {"B.Ab", ".."},        // behind an open one nothing is parked
        {"AxAd", "xd"},        // after a death the key goes on
        {"A.Ad", ".."},        // an answer behind an open one of its key is forgotten
        {"A.AdBd", "aad"},     // and both repeat, in order
    };
    for (const Case& c : cases) {
        EXPECT_EQ(completed(c.given, block), c.expected) << c.given;
    }
}

TEST(SettlePlan, DelaysAMessageAndTheKeyBehindIt) {
    Destination block;
    block.name = "d";
    EXPECT_EQ(completed("AlA.Bd", block), "aad");
    EXPECT_EQ(completed("AlA.", block), "aa");
    Scene made = scene("AlA.");
    complete(made.batch, block, made.settlements);
    EXPECT_EQ(made.settlements[0].due_at, kPlanned + std::chrono::seconds(5));
    EXPECT_EQ(made.settlements[1].due_at, kPlanned);
    EXPECT_EQ(made.settlements[0].attempts, 0U);
}

TEST(SettlePlan, LeavesParkedMessagesWhereTheyAre) {
    Destination block;
    block.name = "d";
    EXPECT_EQ(completed("A.A.|Bd", block), "..d");
    EXPECT_EQ(completed("AaA.|A.Bd", block), "a.ad");
    EXPECT_EQ(completed("A.|A.Bd", block), ".ad");
    EXPECT_EQ(completed("Ad|A.", block), "d.");
}

TEST(SettlePlan, LetsTheKeyPassUnderSkip) {
    Destination skip;
    skip.name = "d";
    skip.on_failure = OnFailure::skip;
    EXPECT_EQ(completed("AaAdBd", skip), "add");
    Settlement again;
    again.fate = Fate::again;
    EXPECT_TRUE(key_goes_on(again, skip));
    Destination block;
    EXPECT_FALSE(key_goes_on(again, block));
}

TEST(SettlePlan, KeepsLanesApart) {
    Destination block;
    block.name = "d";
    Scene made = scene("A.BdC.Dd");
    made.batch.envelopes[0].lane = 1;
    made.batch.envelopes[2].lane = 1;
    complete(made.batch, block, made.settlements);
    EXPECT_EQ(made.settlements[0].fate, Fate::left);
    EXPECT_EQ(made.settlements[1].fate, Fate::done);
    EXPECT_EQ(made.settlements[2].fate, Fate::left);
    EXPECT_EQ(made.settlements[3].fate, Fate::done);
}

// What every store relies on, over any batch and any answers.
TEST(SettlePlan, NeverLeavesAHoleBehindTheCursorNorBreaksAKey) {
    EXPECT_TRUE(rc::check([] {
        const auto letters =
            *rc::gen::container<std::vector<char>>(rc::gen::element('d', 'a', 'x', '.', 'b', 'l'));
        std::string text;
        for (const char letter : letters) {
            text += *rc::gen::element('A', 'B', 'C', 'D');
            text += letter;
        }
        Destination destination;
        destination.name = "d";
        Scene made = scene(text);
        for (Envelope& envelope : made.batch.envelopes) {
            envelope.lane = static_cast<std::uint32_t>(envelope.order_key % 2);
        }
        const std::vector<Settlement> before = made.settlements;
        complete(made.batch, destination, made.settlements);
        std::set<std::uint32_t> stopped;
        std::set<OrderKey> waiting;
        for (std::size_t i = 0; i < made.settlements.size(); ++i) {
            const Envelope& envelope = made.batch.envelopes[i];
            const Settlement& settlement = made.settlements[i];
            if (settlement.fate == Fate::left) stopped.insert(envelope.lane);
            RC_ASSERT(!stopped.contains(envelope.lane) || settlement.fate == Fate::left);
            // A fate is taken back only as part of a suffix that repeats.
            if (before[i].fate != settlement.fate && before[i].fate != Fate::left) {
                RC_ASSERT(waiting.contains(envelope.order_key) || stopped.contains(envelope.lane));
            }
            if (settlement.fate == Fate::again) waiting.insert(envelope.order_key);
        }
    }));
}

}  // namespace
}  // namespace outrider
