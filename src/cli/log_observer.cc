#include "cli/log_observer.h"

#include "cli/store_wait.h"

namespace outrider::cli {
namespace {

constexpr Duration kQuiet = std::chrono::seconds(30);

// Not those that only wait behind another, or for their time.
bool is_refusal(const Envelope& envelope, const Settlement& settlement) {
    return settlement.fate == Fate::again && settlement.attempts > envelope.attempts;
}

bool is_away(Stage stage, const Error& error) {
    return error.remedy == Remedy::wait && (stage == Stage::open || stage == Stage::claim);
}

}  // namespace

void LogObserver::claimed(
    const Destination& destination,
    std::span<const Envelope> envelopes,
    Duration took
) {
    say_that_the_store_is_back(destination.name);
    if (envelopes.empty()) return;
    log_.debug(
        "claimed",
        {{"destination", destination.name},
         {"messages", envelopes.size()},
         {"micros", took.count()}}
    );
}

void LogObserver::published(
    const Destination& destination,
    std::span<const Envelope> /*envelopes*/,
    std::span<const Answer> answers,
    Duration /*took*/
) {
    const std::lock_guard lock(mutex_);
    Sum& sum = sums_[destination.name];
    for (const Answer& answer : answers) {
        if (answer.verdict == Verdict::acknowledged) ++sum.acknowledged;
        if (answer.verdict == Verdict::refused) ++sum.refused;
    }
}

void LogObserver::broker_statistics(const Destination& destination, std::string_view json) {
    log_.info("broker statistics", {{"destination", destination.name}, {"statistics", json}});
}

void LogObserver::decided(
    const Destination& destination,
    std::span<const Envelope> envelopes,
    std::span<const Settlement> settlements
) {
    const auto tell = [&](std::string_view what, std::size_t i) {
        log_.warn(
            what,
            {{"destination", destination.name},
             {"id", envelopes[i].id.to_string()},
             {"topic", envelopes[i].topic},
             {"attempts", settlements[i].attempts},
             {"reason", settlements[i].reason}}
        );
    };
    for (std::size_t i = 0; i < settlements.size(); ++i) {
        if (settlements[i].fate == Fate::dead) tell("dead letter", i);
        if (!is_refusal(envelopes[i], settlements[i])) continue;
        if (is_time_for_refusal(destination.name)) tell("refused, and will be tried again", i);
    }
}

void LogObserver::settled(
    const Destination& destination,
    std::uint64_t messages,
    Duration /*took*/
) {
    const std::lock_guard lock(mutex_);
    Sum& sum = sums_[destination.name];
    sum.settled += messages;
    ++sum.turns;
}

bool LogObserver::is_time_for_refusal(const std::string& destination) {
    const std::lock_guard lock(mutex_);
    const MonoTime now = clock_.now();
    const auto [told, is_first] = refusals_.try_emplace(destination, now);
    if (!is_first && now - told->second < kQuiet) return false;
    told->second = now;
    return true;
}

bool LogObserver::is_news(const std::string& who, const std::string& text) {
    const std::lock_guard lock(mutex_);
    LastFault& last = faults_[who];
    const MonoTime now = clock_.now();
    if (last.text == text && now - last.at < kQuiet) return false;
    last = {text, now};
    return true;
}

void LogObserver::say_that_the_store_is_back(const std::string& destination) {
    {
        const std::lock_guard lock(mutex_);
        if (without_store_.erase(destination) == 0) return;
    }
    log_.info(kStoreIsBack, {{"destination", destination}});
}

void LogObserver::faulted(const Destination& destination, Stage stage, const Error& error) {
    const bool needs_a_person = error.remedy == Remedy::correct || error.remedy == Remedy::upgrade;
    const bool is_start = stage == Stage::open || stage == Stage::connect;
    if (is_start && needs_a_person) refused_ = true;
    if (is_away(stage, error)) {
        // By its own words, whatever the error is: one outage has several.
        if (!is_news(destination.name, kStoreIsAway)) return;
        log_.warn(kStoreIsAway, {{"destination", destination.name}, {"error", error.text}});
        const std::lock_guard lock(mutex_);
        without_store_.insert(destination.name);
        return;
    }
    if (!is_news(destination.name, error.text)) return;
    log_.error(
        "fault",
        {{"destination", destination.name},
         {"stage", to_string(stage)},
         {"remedy", to_string(error.remedy)},
         {"error", error.text}}
    );
}

void LogObserver::circuit_changed(
    const Destination& destination,
    CircuitState state,
    std::string_view reason
) {
    if (state == CircuitState::closed) {
        log_.info("circuit closed: messages flow again", {{"destination", destination.name}});
        return;
    }
    log_.warn(
        "circuit open: the broker did not answer and is left alone for a while",
        {{"destination", destination.name}, {"reason", reason}}
    );
}

void LogObserver::standing_by(const Destination& destination, bool standing_by) {
    const std::string_view text =
        standing_by ? "standing by: others have this destination in hand" : "taken over";
    log_.info(text, {{"destination", destination.name}});
}

void LogObserver::store_noted(std::string_view text) {
    log_.warn(text);
}

void LogObserver::cleaned_up(std::uint64_t messages) {
    const std::lock_guard lock(mutex_);
    cleaned_up_ += messages;
}

void LogObserver::inbox_cleaned_up(std::uint64_t records) {
    const std::lock_guard lock(mutex_);
    inbox_cleaned_up_ += records;
}

void LogObserver::clean_up_failed(const Error& error) {
    if (is_news({}, error.text)) log_.error("clean-up failed", {{"error", error.text}});
}

void LogObserver::report() {
    std::map<std::string, Sum> sums;
    std::uint64_t cleaned_up = 0;
    std::uint64_t inbox_cleaned_up = 0;
    {
        const std::lock_guard lock(mutex_);
        sums.swap(sums_);
        std::swap(cleaned_up, cleaned_up_);
        std::swap(inbox_cleaned_up, inbox_cleaned_up_);
    }
    for (const auto& [name, sum] : sums) {
        log_.info(
            "progress",
            {{"destination", name},
             {"acknowledged", sum.acknowledged},
             {"refused", sum.refused},
             {"settled", sum.settled},
             {"turns", sum.turns}}
        );
    }
    if (cleaned_up > 0) log_.info("cleaned up", {{"removed", cleaned_up}});
    if (inbox_cleaned_up > 0) log_.info("inbox cleaned up", {{"records", inbox_cleaned_up}});
}

}  // namespace outrider::cli
