#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "brokers/kafka/client.h"
#include "brokers/kafka/lanes.h"
#include "brokers/kafka/troubles.h"
#include "brokers/kafka/writer.h"
#include "core/batch.h"
#include "core/verdict.h"

namespace outrider::kafka {

// The clients of one connection to a cluster, made when they are needed and thrown away after
// trouble. `batch_bytes` shrinks where a topic takes no batches of that size.
struct Clients {
    std::unique_ptr<Client> together;
    std::unique_ptr<Client> alone;
    std::size_t batch_bytes = 1'000'000;
    Troubles troubles;
};

// One burst on its way, in as many rounds as it takes.
//
// Why order holds. Messages of a key go to one partition, numbered without a gap by the idempotent
// producer. A broker that has something of this producer in a partition takes nothing behind a gap
// there; the client stops for good at the first one (Mode::together), and what it had not sent is
// taken back. Only a producer of which the partition has nothing yet may begin
// anywhere, and so behind a gap. That is why the first message to each partition goes ahead, and
// the others follow when it was acknowledged.
//
// Why nothing is lost. The same: who is accepted behind a gap vouches for those in it, since the
// library takes every acknowledgement as one of all that it sent before. So messages without a key,
// which have no order, wait for the first one to their partition too.
//
// Why one partition does not stop the others. Nobody waits for the first message to another
// partition. What goes to one that has no leader, or for too long not enough replicas, is refused;
// it is unanswered only where no other partition takes anything either (Troubles).
//
// Why a bad message is found. Kafka refuses messages by the batch. Those of a batch that was
// refused for what is in it go again, each in a request of its own, one of a key at a time, and
// with them what was not sent yet and is before them in their key.
class Burst {
public:
    struct Parts {
        Clients& clients;
        Writer& writer;
        const KafkaOptions& options;
        std::span<const Envelope> envelopes;
        std::span<Answer> answers;
        Deadline deadline;
    };

    explicit Burst(Parts parts);

    // An error leaves the rest unanswered.
    [[nodiscard]] Result<void> make();

    // Says why, where an answer is missing.
    void leave(std::string_view reason);

private:
    enum class State : std::uint8_t { open, flying, suspect, done };

    // What became of one message in a round.
    enum class Step : std::uint8_t { next, stop };

    [[nodiscard]] Result<void> make_round(Mode mode);
    [[nodiscard]] Result<Client*> client(Mode mode);
    [[nodiscard]] Result<void> send_all(Client& client, Mode mode);
    [[nodiscard]] Result<Step> send(Client& client, Mode mode, std::size_t place);
    [[nodiscard]] Result<Step> hand_over(Client& client, const Client::Address& address);
    [[nodiscard]] Result<Topic*> topic_of(Client& client, std::size_t place);
    [[nodiscard]] std::int32_t partition_of(Topic& topic, const Envelope& envelope) const;
    [[nodiscard]] bool is_resting(const rd_kafka_topic_t* topic, std::int32_t partition) const;
    [[nodiscard]] bool takes(const Topic& topic, std::int32_t partition) const;
    [[nodiscard]] Result<void> follow(Client& client);
    [[nodiscard]] Result<void> collect(Client& client);
    [[nodiscard]] Result<void> wait(Client& client);
    [[nodiscard]] bool is_over(const Client& client) const;
    void look_for_leaders(Client& client);
    [[nodiscard]] std::string silence() const;
    void take(const rd_kafka_message_t& message, Mode mode);
    void take_failure(const rd_kafka_message_t& message, Mode mode);
    void refuse_topic(Client& client, std::size_t place, const std::string& reason);
    void hinder(std::size_t place, const std::string& topic);
    void note(
        const std::string& topic,
        std::int32_t partition,
        std::string_view what,
        Duration rest
    );
    void judge_hindered();
    void fail(std::size_t place, Verdict verdict, const std::string& reason);
    void suspect_all();
    void suspect_what_is_before();
    [[nodiscard]] bool is_behind(std::size_t place) const;
    [[nodiscard]] std::size_t count(State state) const;

    Parts parts_;
    const Deadline patience_;
    std::vector<State> states_;
    std::vector<std::int32_t> partitions_;
    std::vector<std::size_t> hindered_;  // refused for the trouble of their partition
    std::unordered_set<OrderKey> failed_keys_;
    std::map<std::string, std::string, std::less<>> refused_topics_;
    std::size_t culprits_ = 0;

    // Of the round.
    MonoTime begun_at_;
    std::unordered_set<OrderKey> flying_keys_;
    Lanes lanes_;
    std::string last_name_;
    Topic* last_topic_ = nullptr;
    std::size_t flying_ = 0;
    bool took_any_ = false;
    std::string doubt_;  // why somebody may have arrived or not; empty: nobody
    std::string back_;   // why a message came back unsent, the last time
};

}  // namespace outrider::kafka
