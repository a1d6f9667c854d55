#include "simulation/checker.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace outrider::simulation {
namespace {

using Promise = Violation::Promise;

using Key = std::pair<std::string_view, std::string_view>;  // topic and key

bool takes(const Rules& rules, const Written& written) {
    return std::find(rules.takes.begin(), rules.takes.end(), written.topic) != rules.takes.end();
}

// What is known of one message at one destination.
struct Story {
    std::uint64_t arrivals = 0;
    std::uint64_t excuses = 0;  // faults that hit it in flight
    std::uint64_t refusals = 0;
    std::uint64_t unacceptables = 0;
    std::uint64_t silences = 0;  // when nothing else was offered with it
    std::uint64_t replays = 0;
    bool died = false;
    bool rests = false;  // is a dead letter still, or was discarded

    // What it may have been charged for: who is silent about it alone, again and again, is taken
    // to refuse it, but for the first time.
    [[nodiscard]] std::uint64_t charges() const {
        return refusals + (silences > 1 ? silences - 1 : 0);
    }
};

class Checker {
public:
    explicit Checker(const History& history)
        : history_(history),
          stories_(history.destinations.size(), std::vector<Story>(history.written.size())),
          firsts_(history.destinations.size()) {
        for (std::size_t i = 0; i < history.written.size(); ++i) {
            numbers_.emplace(history.written[i].id, i);
        }
    }

    std::vector<Violation> judge() {
        read_arrivals();
        read_troubles();
        read_deaths();
        read_incidents();
        for (std::size_t d = 0; d < history_.destinations.size(); ++d) judge_destination(d);
        return std::move(violations_);
    }

private:
    // The message of that name, if it was ever written.
    [[nodiscard]] std::optional<std::size_t> find(const MessageId& id) const {
        const auto entry = numbers_.find(id);
        if (entry == numbers_.end()) return std::nullopt;
        return entry->second;
    }

    void accuse(Promise promise, std::size_t destination, const MessageId& id, std::string text) {
        const std::optional<std::size_t> number = find(id);
        std::string message = id.to_string();
        if (number) {
            const Written& written = history_.written[*number];
            message = "message " + std::to_string(*number) + " (" + written.topic + "/" +
                      written.key + " position " + std::to_string(written.position) + ")";
        }
        violations_.push_back(
            {promise,
             "destination " + history_.destinations[destination].name + ": " + message + " " +
                 std::move(text)}
        );
    }

    void read_arrivals() {
        for (const Arrival& arrival : history_.arrivals) {
            const std::optional<std::size_t> number = find(arrival.id);
            if (!number || !is_expected(arrival.destination, *number)) {
                accuse(Promise::no_phantom, arrival.destination, arrival.id, "is a phantom");
                continue;
            }
            judge_arrival(arrival, history_.written[*number]);
            Story& story = stories_[arrival.destination][*number];
            if (++story.arrivals == 1) firsts_[arrival.destination].push_back(*number);
        }
    }

    void judge_arrival(const Arrival& arrival, const Written& written) {
        const bool same = arrival.topic == written.topic && arrival.key == written.key &&
                          arrival.digest == written.digest;
        if (!same) {
            accuse(Promise::integrity, arrival.destination, arrival.id, "arrived changed");
        }
        if (!history_.clock_jumped && written.deliver_after.value_or(arrival.wall) > arrival.wall) {
            accuse(Promise::not_early, arrival.destination, arrival.id, "came before its time");
        }
    }

    [[nodiscard]] bool is_expected(std::size_t destination, std::size_t number) const {
        const Written& written = history_.written[number];
        return written.committed != 0 && takes(history_.destinations[destination], written);
    }

    void read_troubles() {
        for (const Trouble& trouble : history_.troubles) {
            const std::optional<std::size_t> number = find(trouble.id);
            if (!number) continue;  // its arrival, if there was one, is a phantom already
            Story& story = stories_[trouble.destination][*number];
            story.refusals += trouble.sort == Trouble::Sort::refused ? 1 : 0;
            story.unacceptables += trouble.sort == Trouble::Sort::unacceptable ? 1 : 0;
            story.silences += trouble.sort == Trouble::Sort::unanswered_alone ? 1 : 0;
        }
    }

    void read_deaths() {
        for (const Death& death : history_.deaths) {
            const std::optional<std::size_t> number = find(death.id);
            if (!number || !is_expected(death.destination, *number)) {
                accuse(Promise::no_phantom, death.destination, death.id, "is a phantom that died");
                continue;
            }
            Story& story = stories_[death.destination][*number];
            story.died = true;
            story.rests = death.step == Death::Step::remains ||
                          death.step == Death::Step::discarded || story.rests;
            judge_death(death, *number);
            if (death.step == Death::Step::replayed) ++story.replays;
        }
    }

    void judge_death(const Death& death, std::size_t number) {
        const Rules& rules = history_.destinations[death.destination];
        const Story& story = stories_[death.destination][number];
        const bool too_large = rules.payload_bytes_max != 0 &&
                               history_.written[number].payload_bytes > rules.payload_bytes_max;
        const std::uint64_t causes =
            story.charges() + story.unacceptables + (too_large ? story.replays + 1 : 0);
        if (death.attempts > causes) {
            accuse(Promise::honest_death, death.destination, death.id, "was charged for nothing");
        }
        const bool spent = rules.attempts_max != 0 && story.charges() >= rules.attempts_max;
        const bool aged = rules.dies_of_age && story.charges() > 0;
        if (!too_large && story.unacceptables == 0 && !spent && !aged) {
            accuse(Promise::honest_death, death.destination, death.id, "died without a cause");
        }
    }

    void read_incidents() {
        for (const Incident& incident : history_.incidents) {
            for (const MessageId& id : incident.in_flight) {
                const std::optional<std::size_t> number = find(id);
                if (number) ++stories_[incident.destination][*number].excuses;
            }
        }
    }

    void judge_destination(std::size_t destination) {
        for (std::size_t number = 0; number < history_.written.size(); ++number) {
            if (is_expected(destination, number)) judge_story(destination, number);
        }
        const Rules& rules = history_.destinations[destination];
        if (rules.order == Order::key) judge_order_of_keys(destination);
        if (rules.order == Order::global) judge_global_order(destination);
        if (rules.lag_max) judge_lag(destination, *rules.lag_max);
    }

    void judge_story(std::size_t destination, std::size_t number) {
        const Story& story = stories_[destination][number];
        const MessageId& id = history_.written[number].id;
        if (story.arrivals == 0 && !story.rests) {
            accuse(Promise::no_loss, destination, id, "was committed and never arrived");
        }
        if (story.arrivals > 1 + story.excuses) {
            accuse(
                Promise::duplicates,
                destination,
                id,
                "arrived " + std::to_string(story.arrivals) + " times with " +
                    std::to_string(story.excuses) + " excuses"
            );
        }
    }

    // A message may come late when it was given up on meanwhile and its key was let go on, or when
    // it was refused where the rest of a key does not wait.
    [[nodiscard]] bool may_be_late(std::size_t destination, std::size_t number) const {
        const Rules& rules = history_.destinations[destination];
        const Story& story = stories_[destination][number];
        if (rules.on_failure == OnFailure::skip) return story.died || story.charges() > 0;
        return rules.after_death == AfterDeath::go_on && story.died;
    }

    void judge_order_of_keys(std::size_t destination) {
        std::map<Key, std::uint64_t> highest;
        for (const std::size_t number : firsts_[destination]) {
            const Written& written = history_.written[number];
            const Key key{written.topic, written.key};
            if (written.key.empty()) continue;
            std::uint64_t& position = highest[key];
            if (written.position < position && !may_be_late(destination, number)) {
                accuse(
                    Promise::order,
                    destination,
                    written.id,
                    "came first after position " + std::to_string(position)
                );
            }
            position = std::max(position, written.position);
        }
    }

    // Who was written after another had committed comes after it, whatever the key.
    void judge_global_order(std::size_t destination) {
        std::uint64_t latest_written = 0;
        for (const std::size_t number : firsts_[destination]) {
            const Written& written = history_.written[number];
            if (latest_written > written.committed && !may_be_late(destination, number)) {
                accuse(
                    Promise::order,
                    destination,
                    written.id,
                    "came first after a message that was written after its commit"
                );
            }
            latest_written = std::max(latest_written, written.written);
        }
    }

    // Of keys in which no message was refused, died or had to wait for its time.
    void judge_lag(std::size_t destination, Duration lag_max) {
        std::set<Key> troubled;
        for (std::size_t number = 0; number < history_.written.size(); ++number) {
            const Written& written = history_.written[number];
            const Story& story = stories_[destination][number];
            if (written.deliver_after || story.charges() + story.unacceptables > 0 || story.died) {
                troubled.insert({written.topic, written.key});
            }
        }
        for (const Arrival& arrival : history_.arrivals) {
            if (arrival.destination != destination) continue;
            const std::optional<std::size_t> number = find(arrival.id);
            if (!number || troubled.contains({arrival.topic, arrival.key})) continue;
            if (arrival.at - history_.written[*number].committed_at <= lag_max) continue;
            accuse(Promise::isolation, destination, arrival.id, "waited for no reason of its own");
        }
    }

    const History& history_;
    std::map<MessageId, std::size_t> numbers_;
    std::vector<std::vector<Story>> stories_;       // by destination and message
    std::vector<std::vector<std::size_t>> firsts_;  // by destination: in order of first arrival
    std::vector<Violation> violations_;
};

}  // namespace

std::string_view to_string(Promise promise) {
    switch (promise) {
        case Promise::no_loss:
            return "no loss";
        case Promise::no_phantom:
            return "no phantom";
        case Promise::integrity:
            return "integrity";
        case Promise::order:
            return "order";
        case Promise::duplicates:
            return "duplicates";
        case Promise::honest_death:
            return "honest death";
        case Promise::not_early:
            return "not early";
        case Promise::isolation:
            return "isolation";
    }
    return "?";
}

std::vector<Violation> check(const History& history) {
    return Checker(history).judge();
}

}  // namespace outrider::simulation
