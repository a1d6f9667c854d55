#include "simulation/checker.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "simulation/director.h"

namespace outrider::simulation {
namespace {

using Promise = Violation::Promise;
using Places = std::vector<std::size_t>;

const Written& written_as(const History& history, const MessageId& id) {
    return *std::find_if(history.written.begin(), history.written.end(), [&](const Written& w) {
        return w.id == id;
    });
}

// The arrivals of one message at one destination.
Places arrivals_of(const History& history, const Arrival& of) {
    Places places;
    for (std::size_t i = 0; i < history.arrivals.size(); ++i) {
        const Arrival& arrival = history.arrivals[i];
        if (arrival.destination == of.destination && arrival.id == of.id) places.push_back(i);
    }
    return places;
}

bool has_died(const History& history, const Arrival& arrival) {
    return std::any_of(history.deaths.begin(), history.deaths.end(), [&](const Death& death) {
        return death.destination == arrival.destination && death.id == arrival.id;
    });
}

// A message that arrived exactly once and never was a dead letter.
std::optional<std::size_t> find_single(const History& history) {
    for (std::size_t i = 0; i < history.arrivals.size(); ++i) {
        const Arrival& arrival = history.arrivals[i];
        const bool once = arrivals_of(history, arrival).size() == 1;
        if (once && !has_died(history, arrival)) return i;
    }
    return std::nullopt;
}

// The single arrivals of a strictly ordered destination, as pairs of which `follows` says that the
// second must come behind the first.
template <class Follows>
bool swap_pair(History& history, Order order, Follows follows) {
    for (std::size_t i = 0; i < history.arrivals.size(); ++i) {
        Arrival& first = history.arrivals[i];
        const Rules& rules = history.destinations[first.destination];
        if (rules.order != order || rules.on_failure != OnFailure::block) continue;
        if (has_died(history, first) || arrivals_of(history, first).size() != 1) continue;
        for (std::size_t k = i + 1; k < history.arrivals.size(); ++k) {
            Arrival& second = history.arrivals[k];
            if (second.destination != first.destination || has_died(history, second)) continue;
            if (arrivals_of(history, second).size() != 1) continue;
            if (!follows(written_as(history, first.id), written_as(history, second.id))) continue;
            std::swap(first, second);
            return true;
        }
    }
    return false;
}

bool swap_two_of_a_key(History& history) {
    return swap_pair(history, Order::key, [](const Written& a, const Written& b) {
        return !a.key.empty() && a.topic == b.topic && a.key == b.key && a.position < b.position;
    });
}

bool swap_two_of_global_order(History& history) {
    return swap_pair(history, Order::global, [](const Written& a, const Written& b) {
        return a.committed < b.written;
    });
}

// Changes the arrival of a message that arrived once.
template <class Change>
bool change_single(History& history, Change change) {
    const std::optional<std::size_t> place = find_single(history);
    if (place) change(history, *place);
    return place.has_value();
}

bool remove_arrival(History& history) {
    return change_single(history, [](History& h, std::size_t place) {
        h.arrivals.erase(h.arrivals.begin() + static_cast<std::ptrdiff_t>(place));
    });
}

bool repeat_without_fault(History& history) {
    if (!history.incidents.empty()) return false;
    return change_single(history, [](History& h, std::size_t place) {
        h.arrivals.push_back(Arrival(h.arrivals[place]));
    });
}

bool repeat_over_budget(History& history) {
    if (history.incidents.empty()) return false;
    return change_single(history, [](History& h, std::size_t place) {
        const std::size_t count = 2 + h.incidents.size();
        const Arrival copy = h.arrivals[place];
        for (std::size_t i = 0; i < count; ++i) h.arrivals.push_back(copy);
    });
}

bool invent_message(History& history) {
    return change_single(history, [](History& h, std::size_t place) {
        Arrival phantom = h.arrivals[place];
        phantom.id = MessageId(std::array<std::uint8_t, 16>{1, 2, 3});
        h.arrivals.push_back(phantom);
    });
}

bool deliver_rolled_back(History& history) {
    for (const Written& written : history.written) {
        if (written.committed != 0) continue;
        history.arrivals.push_back(
            {0, written.id, written.topic, written.key, written.digest, WallTime{}}
        );
        return true;
    }
    return false;
}

bool roll_back_delivered(History& history) {
    if (history.arrivals.empty()) return false;
    for (Written& written : history.written) {
        if (written.id == history.arrivals.front().id) written.committed = 0;
    }
    return true;
}

bool deliver_to_wrong_destination(History& history) {
    for (const Arrival& arrival : history.arrivals) {
        for (std::size_t d = 0; d < history.destinations.size(); ++d) {
            const std::vector<std::string>& takes = history.destinations[d].takes;
            if (std::find(takes.begin(), takes.end(), arrival.topic) != takes.end()) continue;
            Arrival stray = arrival;
            stray.destination = d;
            history.arrivals.push_back(stray);
            return true;
        }
    }
    return false;
}

bool change_content(History& history) {
    return change_single(history, [](History& h, std::size_t p) { ++h.arrivals[p].digest; });
}

bool change_key(History& history) {
    return change_single(history, [](History& h, std::size_t p) { h.arrivals[p].key += "x"; });
}

bool change_topic(History& history) {
    return change_single(history, [](History& h, std::size_t p) { h.arrivals[p].topic += "x"; });
}

bool change_repeat(History& history) {
    for (const Arrival& arrival : history.arrivals) {
        const Places places = arrivals_of(history, arrival);
        if (places.size() < 2) continue;
        ++history.arrivals[places.back()].digest;
        return true;
    }
    return false;
}

bool forget_faults(History& history) {
    const bool repeats =
        std::any_of(history.arrivals.begin(), history.arrivals.end(), [&](const Arrival& arrival) {
            return arrivals_of(history, arrival).size() > 1;
        });
    history.incidents.clear();
    return repeats;
}

// Removes all notes of a death that ended so.
bool forget_death(History& history, Death::Step step) {
    for (const Death& death : std::vector<Death>(history.deaths)) {
        if (death.step != step) continue;
        if (!arrivals_of(history, {death.destination, death.id}).empty()) continue;
        std::erase_if(history.deaths, [&](const Death& other) {
            return other.destination == death.destination && other.id == death.id;
        });
        return true;
    }
    return false;
}

bool lose_dead_letter(History& history) {
    return forget_death(history, Death::Step::remains);
}

bool discard_in_silence(History& history) {
    return forget_death(history, Death::Step::discarded);
}

bool die_without_refusal(History& history) {
    return change_single(history, [](History& h, std::size_t place) {
        const Arrival arrival = h.arrivals[place];
        std::erase_if(h.troubles, [&](const Trouble& trouble) { return trouble.id == arrival.id; });
        h.deaths.push_back({arrival.destination, arrival.id, 0, Death::Step::replayed});
    });
}

bool charge_too_much(History& history) {
    if (history.deaths.empty()) return false;
    history.deaths.front().attempts += 100;
    return true;
}

bool bury_stranger(History& history) {
    history.deaths.push_back({0, MessageId(std::array<std::uint8_t, 16>{9}), 1});
    return true;
}

bool deliver_early(History& history) {
    if (history.clock_jumped) return false;
    for (Arrival& arrival : history.arrivals) {
        const Written& written = written_as(history, arrival.id);
        if (!written.deliver_after) continue;
        arrival.wall = *written.deliver_after - Duration(1);
        return true;
    }
    return false;
}

bool silence_destination(History& history) {
    const std::size_t before = history.arrivals.size();
    std::erase_if(history.arrivals, [](const Arrival& arrival) {
        return arrival.destination == 0;
    });
    return history.arrivals.size() < before;
}

struct Corruption {
    const char* name;
    bool (*corrupt)(History&);  // false: this history has nothing of that sort
    Promise promise;
};

void PrintTo(const Corruption& corruption, std::ostream* out) {
    *out << corruption.name;
}

const Corruption kCorruptions[] = {
    {"RemoveArrival", remove_arrival, Promise::no_loss},
    {"SilenceDestination", silence_destination, Promise::no_loss},
    {"LoseDeadLetter", lose_dead_letter, Promise::no_loss},
    {"DiscardInSilence", discard_in_silence, Promise::no_loss},
    {"InventMessage", invent_message, Promise::no_phantom},
    {"DeliverRolledBack", deliver_rolled_back, Promise::no_phantom},
    {"RollBackDelivered", roll_back_delivered, Promise::no_phantom},
    {"DeliverToWrongDestination", deliver_to_wrong_destination, Promise::no_phantom},
    {"BuryStranger", bury_stranger, Promise::no_phantom},
    {"ChangeContent", change_content, Promise::integrity},
    {"ChangeKey", change_key, Promise::integrity},
    {"ChangeTopic", change_topic, Promise::integrity},
    {"ChangeRepeat", change_repeat, Promise::integrity},
    {"SwapTwoOfAKey", swap_two_of_a_key, Promise::order},
    {"SwapTwoOfGlobalOrder", swap_two_of_global_order, Promise::order},
    {"RepeatWithoutFault", repeat_without_fault, Promise::duplicates},
    {"RepeatOverBudget", repeat_over_budget, Promise::duplicates},
    {"ForgetFaults", forget_faults, Promise::duplicates},
    {"DieWithoutRefusal", die_without_refusal, Promise::honest_death},
    {"ChargeTooMuch", charge_too_much, Promise::honest_death},
    {"DeliverEarly", deliver_early, Promise::not_early},
};

class CorruptedHistory : public ::testing::TestWithParam<Corruption> {};

// Real histories, each corrupted in one place. Ten of each sort.
TEST_P(CorruptedHistory, IsFlagged) {
    std::size_t corrupted = 0;
    for (std::uint64_t seed = 1; corrupted < 10; ++seed) {
        ASSERT_LT(seed, 1000U) << "no history to corrupt";
        History history = run({.seed = seed}).history;
        if (!GetParam().corrupt(history)) continue;
        ++corrupted;
        const std::vector<Violation> violations = check(history);
        EXPECT_TRUE(std::any_of(
            violations.begin(),
            violations.end(),
            [](const Violation& violation) { return violation.promise == GetParam().promise; }
        )) << "seed "
           << seed;
    }
}

INSTANTIATE_TEST_SUITE_P(
    ,
    CorruptedHistory,
    ::testing::ValuesIn(kCorruptions),
    [](const auto& corruption) { return std::string(corruption.param.name); }
);

// A history made by hand: one destination, two messages of one key in two transactions.
History small_history() {
    History history;
    history.destinations.push_back({.name = "place", .takes = {"t"}, .attempts_max = 2});
    for (std::uint8_t i = 1; i <= 2; ++i) {
        const MessageId id(std::array<std::uint8_t, 16>{i});
        history.written.push_back(
            {.id = id,
             .topic = "t",
             .key = "k",
             .digest = i,
             .position = i,
             .written = 2U * i - 1,
             .committed = 2U * i}
        );
        history.arrivals.push_back({0, id, "t", "k", i, WallTime{}});
    }
    return history;
}

TEST(CheckerByHand, AcceptsWhatIsInOrder) {
    EXPECT_TRUE(check(small_history()).empty());
}

TEST(CheckerByHand, AcceptsARepeatOfWhatWasInFlight) {
    History history = small_history();
    history.arrivals.push_back(Arrival(history.arrivals[1]));
    EXPECT_EQ(check(history).size(), 1U);
    history.incidents.push_back({FaultSort::crash, 0, {history.arrivals[1].id}});
    EXPECT_TRUE(check(history).empty());
}

TEST(CheckerByHand, LetsTheKeyGoOnBehindTheDeadOnlyWhereTheRulesDo) {
    History history = small_history();
    std::swap(history.arrivals[0], history.arrivals[1]);
    EXPECT_EQ(check(history).size(), 1U);
    const MessageId first = history.written[0].id;
    for (int i = 0; i < 2; ++i) history.troubles.push_back({0, first, Trouble::Sort::refused});
    EXPECT_EQ(check(history).size(), 1U);
    history.deaths.push_back({0, first, 2, Death::Step::replayed});
    EXPECT_TRUE(check(history).empty());
    history.destinations[0].after_death = AfterDeath::hold;
    EXPECT_EQ(check(history).size(), 1U);
}

TEST(CheckerByHand, LetsTheRefusedBePassedOnlyWhereTheRulesDo) {
    History history = small_history();
    std::swap(history.arrivals[0], history.arrivals[1]);
    history.destinations[0].on_failure = OnFailure::skip;
    EXPECT_EQ(check(history).size(), 1U);
    history.troubles.push_back({0, history.written[0].id, Trouble::Sort::refused});
    EXPECT_TRUE(check(history).empty());
}

TEST(CheckerByHand, HoldsAnOutageAgainstWhoeverChargesForIt) {
    History history = small_history();
    const MessageId first = history.written[0].id;
    for (int i = 0; i < 2; ++i) history.troubles.push_back({0, first, Trouble::Sort::unanswered});
    history.deaths.push_back({0, first, 2, Death::Step::remains});
    EXPECT_EQ(check(history).size(), 2U);  // charged for nothing, and died of it
}

TEST(CheckerByHand, LetsAMessageDieOfSilencesThatItAloneHasMet) {
    History history = small_history();
    const MessageId first = history.written[0].id;
    const std::uint32_t attempts = history.destinations[0].attempts_max;
    const auto is_silent = [&] {
        history.troubles.push_back({0, first, Trouble::Sort::unanswered_alone});
    };
    history.deaths.push_back({0, first, attempts, Death::Step::remains});
    for (std::uint32_t i = 0; i < attempts; ++i) is_silent();
    EXPECT_EQ(check(history).size(), 2U);  // the first one may have been anybody's fault
    is_silent();
    EXPECT_TRUE(check(history).empty());
}

}  // namespace
}  // namespace outrider::simulation
