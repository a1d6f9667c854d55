#pragma once

#include <mutex>
#include <set>
#include <vector>

#include "outrider/observer.h"
#include "outrider/relay.h"
#include "outrider/testing.h"

namespace outrider::live {

// How long something may take that must happen.
inline constexpr auto kPatience = std::chrono::seconds(90);

// What the relay says of its answers.
class Listener final : public Observer {
public:
    void published(
        const Destination& destination,
        std::span<const Envelope> envelopes,
        std::span<const Answer> answers,
        Duration took
    ) override;
    void broker_statistics(const Destination&, std::string_view json) override;
    void circuit_changed(const Destination&, CircuitState state, std::string_view) override;

    [[nodiscard]] std::string statistics() const;    // the last; empty: none came
    [[nodiscard]] bool is_open() const;              // the circuit
    [[nodiscard]] std::size_t acknowledged() const;  // messages, each counted once
    [[nodiscard]] std::size_t refused() const;       // answers, unacceptable ones included
    [[nodiscard]] std::size_t unanswered() const;    // answers

private:
    mutable std::mutex mutex_;
    std::set<MessageId> acknowledged_;
    std::size_t refused_ = 0;
    std::size_t unanswered_ = 0;
    std::string statistics_;
    CircuitState circuit_ = CircuitState::closed;
};

// An application that writes messages of a few keys, and a relay that carries them to a broker.
class RelayWorld {
public:
    explicit RelayWorld(const std::shared_ptr<BrokerDriver>& broker);

    [[nodiscard]] const Listener& listener() const { return *listener_; }

    // Commits so many more messages to the topic "t", round robin over the keys.
    void write(int count);

    void await_acknowledged(std::size_t count) const;

    // Waits for an answer of that kind beyond so many. Count them before the trouble begins: once a
    // circuit is open nobody asks the broker again.
    void await_unanswered(std::size_t beyond) const;
    void await_refused(std::size_t beyond) const;

    // Everything has been acknowledged; and what was received, says somebody who is not us, is all
    // that was written, in order per key. Repeats count for nothing. The relay has stopped then.
    void finish();
    void expect_everything(const std::vector<testing::Received>& received) const;

private:
    testing::MemoryStore store_;
    std::shared_ptr<Listener> listener_;
    Relay relay_;
    std::vector<MessageId> ids_;
    int written_ = 0;
};

}  // namespace outrider::live
