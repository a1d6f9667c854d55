#include "relay/circuit.h"

#include <tuple>

#include <gtest/gtest.h>

#include "relay/pace.h"

namespace outrider {
namespace {

using Permit = Circuit::Permit;
using std::chrono::milliseconds;
using std::chrono::seconds;

Destination outage_rules() {
    Destination destination;
    destination.outage_delay_first = milliseconds(100);
    destination.outage_delay_max = milliseconds(400);
    return destination;
}

TEST(Circuit, LetsEverythingPassWhileTheBrokerAnswers) {
    Circuit circuit(outage_rules());
    EXPECT_EQ(circuit.ask(MonoTime{}), Permit::go);
    EXPECT_FALSE(circuit.success());
    EXPECT_EQ(circuit.state(), CircuitState::closed);
}

TEST(Circuit, LetsOneProbeAfterAWaitThatGrows) {
    Circuit circuit(outage_rules());
    SeededDice dice(1);
    MonoTime now(seconds(10));
    EXPECT_TRUE(circuit.failure(now, "gone", dice));
    EXPECT_EQ(circuit.reason(), "gone");
    for (const auto full :
         {milliseconds(100), milliseconds(200), milliseconds(400), milliseconds(400)}) {
        const Duration wait = circuit.retry_at() - now;
        EXPECT_LE(wait, full);
        EXPECT_GE(wait, full * 3 / 4);
        EXPECT_EQ(circuit.ask(circuit.retry_at() - Duration(1)), Permit::wait);
        now = circuit.retry_at();
        EXPECT_EQ(circuit.ask(now), Permit::probe);
        EXPECT_EQ(circuit.state(), CircuitState::half_open);
        EXPECT_EQ(circuit.ask(now), Permit::wait) << "one probe at a time";
        EXPECT_FALSE(circuit.failure(now, "still gone", dice)) << "it was open already";
    }
}

TEST(Circuit, ClosesOnTheFirstAnswerAndForgetsItsWait) {
    Circuit circuit(outage_rules());
    SeededDice dice(1);
    MonoTime now(seconds(10));
    for (int i = 0; i < 5; ++i) circuit.failure(now, "gone", dice);
    EXPECT_TRUE(circuit.success());
    EXPECT_EQ(circuit.ask(now), Permit::go);
    EXPECT_EQ(circuit.reason(), "");
    circuit.failure(now, "gone again", dice);
    EXPECT_LE(circuit.retry_at() - now, milliseconds(100));
}

TEST(Pace, StartsSmallDoublesAndGoesAloneAfterAFault) {
    Pace pace({.messages = 1000, .bytes = 77});
    EXPECT_EQ(pace.limits().messages, 256U);
    EXPECT_EQ(pace.limits().bytes, 77U);
    pace.grow();
    EXPECT_EQ(pace.limits().messages, 512U);
    pace.grow();
    pace.grow();
    EXPECT_EQ(pace.limits().messages, 1000U);
    pace.shrink();
    EXPECT_EQ(pace.limits().messages, 1U);
    pace.grow();
    EXPECT_EQ(pace.limits().messages, 2U);
    pace.calm();
    EXPECT_EQ(pace.limits().messages, 256U);
    EXPECT_EQ(Pace({.messages = 3, .bytes = 1}).limits().messages, 3U);
}

TEST(Pace, RestsForCompanyOnlyWhereTheStoreIsCrowded) {
    using std::chrono::milliseconds;
    Pace pace({.messages = 1000, .bytes = 77});
    EXPECT_EQ(pace.rest_after(100, milliseconds(1)), Duration::zero()) << "the quickest so far";
    EXPECT_EQ(pace.rest_after(1, milliseconds(100)), Duration::zero()) << "few messages";
    for (int turns = 0; turns < 10; ++turns) std::ignore = pace.rest_after(1000, milliseconds(100));
    EXPECT_EQ(pace.rest_after(1000, milliseconds(100)), Pace::kRestMax);
    const Duration several = pace.rest_after(30, milliseconds(100));
    EXPECT_GT(several, Duration::zero());
    EXPECT_LT(several, milliseconds(1));
    for (int turns = 0; turns < 10; ++turns) std::ignore = pace.rest_after(1000, milliseconds(100));
    const Duration crowded = pace.rest_after(200, std::chrono::microseconds(1500));
    EXPECT_GT(crowded, milliseconds(10)) << "24 times what it took longer";
    EXPECT_LE(crowded, milliseconds(12));
    // A store that is slower for good is not a crowded one for good.
    for (int turns = 0; turns < 10'000; ++turns) std::ignore = pace.rest_after(1, milliseconds(2));
    EXPECT_EQ(pace.rest_after(100, milliseconds(2)), Duration::zero());
}

TEST(Pace, OneTurnThatWasHeldUpMakesNobodyWaitForLong) {
    using std::chrono::milliseconds;
    Pace pace({.messages = 1000, .bytes = 77});
    std::ignore = pace.rest_after(1, milliseconds(1));
    EXPECT_EQ(pace.rest_after(900, milliseconds(100)), Pace::kRestFirst);
    EXPECT_EQ(pace.rest_after(900, milliseconds(100)), 3 * Pace::kRestFirst);
    EXPECT_EQ(pace.rest_after(900, milliseconds(100)), 7 * Pace::kRestFirst);
    pace.idle();
    EXPECT_EQ(pace.rest_after(900, milliseconds(100)), Pace::kRestFirst);
}

}  // namespace
}  // namespace outrider
