#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "outrider/observer.h"

#include "cli/log.h"
#include "core/clock.h"

namespace outrider::cli {

// Tells the log what a relay does: faults, circuits, standing by, dead letters and now and then a
// refused message by id, topic and reason, never by payload or key. A store that is away is told in
// the words of a relay that starts, and so is its return. What was delivered is added up and told
// by report(). Safe from any thread.
class LogObserver final : public Observer {
public:
    explicit LogObserver(Log& log) : log_(log) {}

    void claimed(const Destination& destination, std::span<const Envelope> envelopes, Duration took)
        override;
    void published(
        const Destination& destination,
        std::span<const Envelope> envelopes,
        std::span<const Answer> answers,
        Duration took
    ) override;
    void broker_statistics(const Destination& destination, std::string_view json) override;
    void decided(
        const Destination& destination,
        std::span<const Envelope> envelopes,
        std::span<const Settlement> settlements
    ) override;
    void settled(const Destination& destination, std::uint64_t messages, Duration took) override;
    void faulted(const Destination& destination, Stage stage, const Error& error) override;
    void circuit_changed(
        const Destination& destination,
        CircuitState state,
        std::string_view reason
    ) override;
    void standing_by(const Destination& destination, bool standing_by) override;
    void store_noted(std::string_view text) override;
    void cleaned_up(std::uint64_t messages) override;
    void inbox_cleaned_up(std::uint64_t records) override;
    void clean_up_failed(const Error& error) override;

    // A store or a broker has refused a destination for a reason that only a person can mend.
    [[nodiscard]] bool has_refusal() const { return refused_; }

    // One line per destination for which something happened since the last report.
    void report();

private:
    struct Sum {
        std::uint64_t acknowledged = 0;
        std::uint64_t refused = 0;
        std::uint64_t settled = 0;
        std::uint64_t turns = 0;
    };
    struct LastFault {
        std::string text;
        MonoTime at;
    };

    // Refusals are many where one is to blame, so one of them is told once in a while.
    [[nodiscard]] bool is_time_for_refusal(const std::string& destination);

    // A fault that repeats is told once in a while only.
    [[nodiscard]] bool is_news(const std::string& who, const std::string& text);

    void say_that_the_store_is_back(const std::string& destination);

    Log& log_;
    SystemClock clock_;
    std::mutex mutex_;
    std::map<std::string, Sum> sums_;
    std::map<std::string, LastFault> faults_;
    std::map<std::string, MonoTime> refusals_;  // when one was told last
    std::set<std::string> without_store_;       // destinations of which that was told
    std::atomic<bool> refused_ = false;
    std::uint64_t cleaned_up_ = 0;
    std::uint64_t inbox_cleaned_up_ = 0;
};

}  // namespace outrider::cli
