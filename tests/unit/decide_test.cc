#include "core/decide.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "core/hash.h"

namespace outrider {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

const WallTime kNow{std::chrono::hours(500'000)};

Envelope envelope(std::uint32_t attempts = 0, std::optional<WallTime> refused_at = {}) {
    Envelope envelope;
    envelope.seq = 7;
    envelope.order_key = 42;
    envelope.attempts = attempts;
    envelope.refused_at = refused_at;
    return envelope;
}

Destination retry_rules() {
    Destination destination;
    destination.name = "orders";
    destination.retry = {
        .attempts_max = 3,
        .age_max = hours(1),
        .delay_first = seconds(1),
        .delay_max = seconds(10),
        .jitter = 0,
    };
    return destination;
}

// The rules of the case say 2 s for this refusal, and 10 s at most.
TEST(Decide, WaitsAsLongAsTheBrokerAsks) {
    struct Row {
        std::optional<Duration> asked;
        Duration wait;
    };
    const Row rows[] = {
        {std::nullopt, seconds(2)},
        {seconds(0), seconds(2)},
        {seconds(1), seconds(2)},
        {seconds(7), seconds(7)},
        {seconds(10), seconds(10)},
        {hours(24), seconds(10)},
        {Duration::max(), seconds(10)},
        {-seconds(5), seconds(2)},
    };
    SeededDice dice(1);
    for (const Row& row : rows) {
        const Answer answer{Verdict::refused, "busy", row.asked};
        const Settlement settlement = decide(envelope(1, kNow), answer, retry_rules(), kNow, dice);
        EXPECT_EQ(settlement.fate, Fate::again);
        EXPECT_EQ(settlement.due_at - kNow, row.wait);
    }
}

TEST(Decide, TurnsEveryAnswerIntoAFate) {
    struct Case {
        const char* name;
        Verdict verdict;
        std::uint32_t attempts_before;
        Duration first_refusal_ago;  // negative: never refused
        Fate fate;
        std::uint32_t attempts_after;
        Duration delay;
    };
    const Duration never(-1);
    const Case cases[] = {
        {"acknowledged", Verdict::acknowledged, 0, never, Fate::done, 0, never},
        {"acknowledged late", Verdict::acknowledged, 2, seconds(9), Fate::done, 2, never},
        {"unanswered costs no try", Verdict::unanswered, 0, never, Fate::left, 0, never},
        {"unanswered late", Verdict::unanswered, 2, hours(99), Fate::left, 2, never},
        {"refused first", Verdict::refused, 0, never, Fate::again, 1, seconds(1)},
        {"refused second", Verdict::refused, 1, seconds(1), Fate::again, 2, seconds(2)},
        {"refused to the limit", Verdict::refused, 2, seconds(3), Fate::dead, 3, never},
        {"refused too old", Verdict::refused, 1, hours(1), Fate::dead, 2, never},
        {"refused nearly too old",
         Verdict::refused,
         1,
         hours(1) - Duration(1),
         Fate::again,
         2,
         seconds(2)},
        {"unacceptable", Verdict::unacceptable, 0, never, Fate::dead, 1, never},
    };
    SeededDice dice(1);
    for (const Case& c : cases) {
        std::optional<WallTime> refused_at;
        if (c.first_refusal_ago >= Duration::zero()) refused_at = kNow - c.first_refusal_ago;
        const Settlement settlement = decide(
            envelope(c.attempts_before, refused_at), {c.verdict, "why"}, retry_rules(), kNow, dice
        );
        EXPECT_EQ(settlement.fate, c.fate) << c.name;
        EXPECT_EQ(settlement.attempts, c.attempts_after) << c.name;
        if (c.fate == Fate::again) {
            EXPECT_EQ(settlement.due_at - kNow, c.delay) << c.name;
        }
        if (c.fate == Fate::again || c.fate == Fate::dead) {
            EXPECT_EQ(settlement.reason, "why") << c.name;
            EXPECT_EQ(settlement.refused_at, refused_at.value_or(kNow)) << c.name;
        }
    }
}

TEST(Decide, NeverKillsByCountOrAgeWhenBothAreOff) {
    Destination destination = retry_rules();
    destination.retry.attempts_max = 0;
    destination.retry.age_max = Duration::zero();
    SeededDice dice(1);
    const Envelope old = envelope(4'000'000, kNow - hours(100'000));
    EXPECT_EQ(decide(old, {Verdict::refused, ""}, destination, kNow, dice).fate, Fate::again);
}

TEST(Decide, BlocksTheKeyOrNobody) {
    Destination destination = retry_rules();
    SeededDice dice(1);
    const Answer refused{Verdict::refused, ""};
    const Answer hopeless{Verdict::unacceptable, ""};
    EXPECT_EQ(decide(envelope(), refused, destination, kNow, dice).park_key, 42);
    EXPECT_FALSE(decide(envelope(), hopeless, destination, kNow, dice).holds_key);
    destination.after_death = AfterDeath::hold;
    EXPECT_TRUE(decide(envelope(), hopeless, destination, kNow, dice).holds_key);
    destination.on_failure = OnFailure::skip;
    EXPECT_EQ(decide(envelope(), refused, destination, kNow, dice).park_key, own_order_key(7));
    EXPECT_FALSE(decide(envelope(), hopeless, destination, kNow, dice).holds_key);
}

TEST(Decide, ParksUnchargedWhatNobodyRefused) {
    const Settlement waiting = wait_until(envelope(2, kNow - seconds(5)), kNow + seconds(9));
    EXPECT_EQ(waiting.fate, Fate::again);
    EXPECT_EQ(waiting.attempts, 2U);
    EXPECT_EQ(waiting.refused_at, kNow - seconds(5));
    EXPECT_EQ(waiting.due_at, kNow + seconds(9));
    EXPECT_EQ(waiting.park_key, 42);
}

TEST(RetryDelay, DoublesUpToItsLimit) {
    Retry retry = retry_rules().retry;
    SeededDice dice(1);
    const int expected[] = {1, 1, 2, 4, 8, 10, 10};
    for (std::uint32_t attempts = 0; attempts < 7; ++attempts) {
        EXPECT_EQ(retry_delay(retry, attempts, dice), seconds(expected[attempts]));
    }
    EXPECT_EQ(retry_delay(retry, 4'000'000'000U, dice), seconds(10));
}

TEST(RetryDelay, StaysWithinItsJitter) {
    EXPECT_TRUE(rc::check([](std::uint64_t seed) {
        const auto attempts = *rc::gen::inRange<std::uint32_t>(1, 100);
        Retry retry = retry_rules().retry;
        SeededDice dice(seed);
        const auto plain = static_cast<double>(retry_delay(retry, attempts, dice).count());
        retry.jitter = 0.2;
        const auto jittered = static_cast<double>(retry_delay(retry, attempts, dice).count());
        RC_ASSERT(jittered >= plain * 0.8 - 1);
        RC_ASSERT(jittered <= plain * 1.2 + 1);
    }));
}

}  // namespace
}  // namespace outrider
