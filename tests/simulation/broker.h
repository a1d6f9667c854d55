#pragma once

#include <memory>
#include <vector>

#include "simulation/store.h"
#include "simulation/world.h"

namespace outrider::simulation {

// One burst on its way through an unreliable link into a broker that refuses some messages. A
// broker that keeps order takes them one after the other and nothing of a key behind a failure; one
// that does not takes them in any order.
class Burst {
public:
    Burst(World& world, std::size_t destination, std::span<const Envelope> envelopes);

    // How far the broker has come.
    [[nodiscard]] std::size_t size() const { return parcels_.size(); }

    // The broker looks at the next `count` messages, and answers if there is somebody to answer to.
    void process(std::size_t count, std::span<Answer> answers);
    void process(std::size_t count) { process(count, {}); }

    [[nodiscard]] const std::vector<MessageId>& accepted() const { return accepted_; }

    // Not looked at, since an earlier one of its key has failed.
    [[nodiscard]] bool has_passed_over(std::size_t place) const {
        return passed_over_.contains(place);
    }

    // What the broker has not seen yet.
    [[nodiscard]] std::vector<MessageId> rest() const;
    [[nodiscard]] std::size_t rest_size() const { return parcels_.size() - next_; }

private:
    void put_keys_in_order();
    Verdict judge(std::size_t number);

    World& world_;
    const std::size_t destination_;
    std::vector<Parcel> parcels_;
    std::vector<std::size_t> sequence_;  // in which the broker looks at them
    std::size_t next_ = 0;
    bool keeps_order_ = false;
    std::vector<OrderKey> chains_;  // what of each parcel the broker keeps in order
    std::set<OrderKey> failed_keys_;
    std::set<std::size_t> passed_over_;
    std::vector<MessageId> accepted_;
};

// A connection to a destination's broker: bursts may be lost, may arrive without an answer, wholly
// or in part, at once or later but before the deadline; the broker may stall or be away.
class SimulatedBroker final : public Broker {
public:
    SimulatedBroker(Process& process, Flight& flight) : process_(process), flight_(flight) {}

    [[nodiscard]] BrokerTraits traits() const override;
    void publish(std::span<const Envelope> envelopes, Deadline deadline, std::span<Answer> answers)
        override;
    [[nodiscard]] Result<void> ping(Deadline deadline) override;

private:
    enum class Link : std::uint8_t { sound, loses_messages, loses_answers, is_late, stalls };

    [[nodiscard]] const Place& place() const;
    [[nodiscard]] bool is_away() const;
    Link draw_link();
    bool pass_time(Duration at_most, Deadline deadline);
    void carry(std::shared_ptr<Burst> burst, Deadline deadline, std::span<Answer> answers);
    void break_link(Link link, const std::shared_ptr<Burst>& burst, Deadline deadline);
    void send_late(const std::shared_ptr<Burst>& burst, Deadline deadline);
    void note_silence(MessageId id, std::size_t offered);
    void note_silence(std::span<const Envelope> envelopes);
    void note_unanswered(
        std::span<const Envelope> envelopes,
        std::span<const Answer> answers,
        const Burst& burst
    );

    Process& process_;
    Flight& flight_;
};

class SimulatedBrokerDriver final : public BrokerDriver {
public:
    SimulatedBrokerDriver(Process& process, Flight& flight) : process_(process), flight_(flight) {}
    [[nodiscard]] Result<std::unique_ptr<Broker>> open() override;

private:
    Process& process_;
    Flight& flight_;
};

}  // namespace outrider::simulation
