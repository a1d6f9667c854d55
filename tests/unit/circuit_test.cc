#include "relay/circuit.h"

#include <tuple>
#include <utility>
#include <vector>

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
    const auto most_after = [&pace](bool full) {
        std::ignore = pace.after({.messages = 1, .full = full, .store_time = Duration(1)}, {});
        return pace.limits().messages;
    };
    EXPECT_EQ(pace.limits().messages, 256U);
    EXPECT_EQ(pace.limits().bytes, 77U);
    EXPECT_EQ(most_after(true), 512U);
    EXPECT_EQ(most_after(true), 1000U);
    EXPECT_EQ(most_after(true), 1000U);
    pace.shrink();
    EXPECT_EQ(pace.limits().messages, 1U);
    EXPECT_EQ(most_after(true), 2U);
    EXPECT_EQ(most_after(false), 256U);
    EXPECT_EQ(Pace({.messages = 3, .bytes = 1}).limits().messages, 3U);
}

// A store, and a worker that makes turns on it.
struct Running {
    Pace pace{BatchLimits{.messages = 1000, .bytes = 77}};
    MonoTime now;
    std::int64_t written = 0;  // 0: the store does not say
    int workers = 1;           // that share the messages

    // So many messages a second for a while, in turns that take `slowness` times what they need
    // and the rest before them. Returns the last rest.
    Duration go(double rate, int slowness, Duration span) {
        Duration rest{};
        Duration needed(300);
        for (const MonoTime end = now + span; now < end;) {
            const Duration turn = needed * slowness + rest;
            const auto count = rate * std::chrono::duration<double>(turn).count();
            if (written > 0) written += static_cast<std::int64_t>(count);
            rest = end_turn(static_cast<std::size_t>(count) / workers, turn, slowness);
            needed = Duration(300 + 2 * static_cast<int>(count));
        }
        return rest;
    }

    Duration end_turn(std::size_t messages, Duration turn, int slowness) {
        now += turn;
        const Duration needed(300 + 2 * messages);
        return pace.after(
            {.messages = messages, .written = written, .store_time = needed * slowness}, now
        );
    }
};

TEST(Pace, RestsTheLongerTheMoreIsWritten) {
    using std::chrono::microseconds;
    const std::vector<std::pair<double, Duration>> table = {
        {0, Duration::zero()},
        {4'000, Duration::zero()},
        {5'000, microseconds(250)},
        {6'000, microseconds(1'000)},
        {7'500, microseconds(8'000)},
        {9'000, microseconds(64'000)},
        {9'500, Pace::kRestMax},
        {1e9, Pace::kRestMax},
    };
    for (const auto& [rate, rest] : table) EXPECT_EQ(Pace::rest_at(rate), rest) << rate;
}

TEST(Pace, RestsOnlyWhereTheStoreIsCrowded) {
    Running running;
    EXPECT_EQ(running.go(20'000, 1, seconds(1)), Duration::zero());
    EXPECT_EQ(running.go(20'000, 3, seconds(1)), Pace::kRestMax);
    EXPECT_EQ(running.go(500, 3, seconds(1)), Duration::zero()) << "few messages";
    EXPECT_EQ(running.go(20'000, 3, seconds(1)), Pace::kRestMax);
    EXPECT_EQ(running.go(20'000, 1, seconds(1)), Duration::zero()) << "room again";
    // A store that is slower for good is not a crowded one for good.
    EXPECT_EQ(running.go(20'000, 3, seconds(1000)), Duration::zero());
}

TEST(Pace, RestsForWhatOthersTake) {
    Running running{.written = 7, .workers = 8};
    EXPECT_EQ(running.go(20'000, 1, seconds(1)), Duration::zero());
    EXPECT_EQ(running.go(20'000, 3, seconds(1)), Pace::kRestMax);
}

TEST(Pace, OneTurnThatWasHeldUpMakesNobodyWait) {
    Running running;
    std::ignore = running.go(5'000, 1, seconds(1));
    std::ignore = running.go(5'000, 3, seconds(1));
    EXPECT_LT(running.end_turn(500, milliseconds(100), 80), milliseconds(1));
}

TEST(Pace, ABacklogIsNoMeasureOfWhatComesIn) {
    for (const std::int64_t written : {0, 7}) {
        Running running{.written = written};
        std::ignore = running.go(1'000, 1, seconds(1));
        std::ignore = running.go(1'000, 3, seconds(1));
        const Pace::Turn backlog{
            .messages = 10'000, .full = true, .written = written, .store_time = milliseconds(90)};
        for (int turns = 0; turns < 50; ++turns) {
            running.now += milliseconds(100);
            EXPECT_EQ(running.pace.after(backlog, running.now), Duration::zero());
        }
        EXPECT_EQ(running.end_turn(10, milliseconds(10), 3), Duration::zero());
    }
}

}  // namespace
}  // namespace outrider
