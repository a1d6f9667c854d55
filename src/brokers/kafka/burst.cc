#include "brokers/kafka/burst.h"

#include <algorithm>
#include <set>

#include "brokers/kafka/classify.h"
#include "brokers/wire/chains.h"
#include "brokers/wire/socket.h"
#include "core/clock.h"
#include "core/hash.h"

namespace outrider::kafka {
namespace {

// How long new topics are waited for, all of them together.
constexpr Duration kPatience = std::chrono::seconds(1);

// How long a partition with not enough replicas is left alone, from the beginning of the round that
// found out.
constexpr Duration kRest = std::chrono::seconds(20);

// How long nothing is heard before leaders are looked for.
constexpr Duration kQuiet = std::chrono::seconds(3);

// And how long at most.
constexpr Duration kLeaderPatience = std::chrono::seconds(2);

// How often a client that is given up is asked for what it has not sent.
constexpr Duration kRecall = std::chrono::milliseconds(100);

// How often batches are looked through for the bad message before everything else goes alone too.
constexpr int kSearchesMax = 3;

constexpr std::size_t kBatchBytesMin = 16'384;

// What the promise of order is about: topic and key, whatever the destination wants to be ordered.
OrderKey key_of(const Envelope& envelope) {
    return order_key(Order::key, envelope.topic, envelope.key, envelope.seq);
}

std::string name_of(const std::string& topic, std::int32_t partition) {
    return "partition " + std::to_string(partition) + " of topic " + topic;
}

}  // namespace

Burst::Burst(Parts parts)
    : parts_(parts),
      patience_(std::min(parts.deadline, SystemClock().now() + kPatience)),
      states_(parts.envelopes.size(), State::open),
      partitions_(parts.envelopes.size(), RD_KAFKA_PARTITION_UA) {
}

Result<void> Burst::make() {
    int searches = 0;
    while (true) {
        suspect_what_is_before();
        const std::size_t open = count(State::open);
        const std::size_t suspects = count(State::suspect);
        if (open + suspects == 0) break;
        const Mode mode = suspects > 0 ? Mode::alone : Mode::together;
        const std::size_t culprits = culprits_;
        if (Result<void> made = make_round(mode); !made) return made;
        const bool is_cleared = mode == Mode::alone && count(State::suspect) == 0;
        // Each of them is acceptable: it was the batch that was too large.
        if (is_cleared && culprits_ == culprits) {
            parts_.clients.batch_bytes = std::max(kBatchBytesMin, parts_.clients.batch_bytes / 2);
        }
        if (is_cleared && ++searches == kSearchesMax) suspect_all();
        if (count(State::open) == open && count(State::suspect) == suspects) {
            return Error{Remedy::wait, "Kafka takes nothing: " + (doubt_.empty() ? back_ : doubt_)};
        }
    }
    return {};
}

Result<void> Burst::make_round(Mode mode) {
    begun_at_ = SystemClock().now();
    flying_keys_.clear();
    lanes_.begin(begun_at_);
    took_any_ = false;
    last_topic_ = nullptr;
    doubt_.clear();
    const Result<Client*> ready = client(mode);
    if (!ready) return ready.error();
    // Connecting, or the round before, may have taken all the time there was.
    if (wire::millis_left(parts_.deadline) == 0) {
        return Error{Remedy::wait, "the deadline has passed"};
    }
    Client& client = **ready;
    client.report_to([this, mode](const auto& message) { take(message, mode); });
    Result<void> sent = send_all(client, mode);
    Result<void> collected = collect(client);
    client.report_to({});
    if (took_any_) parts_.clients.troubles.took(SystemClock().now());
    const bool is_over = !sent || !collected || client.is_fatal() || client.is_down();
    const std::string why = client.is_fatal() ? client.why() : std::string();
    // What is still flying goes with its client.
    if (is_over) (mode == Mode::together ? parts_.clients.together : parts_.clients.alone).reset();
    if (!sent) return sent;
    if (!collected) return collected;
    if (!doubt_.empty()) return Error{Remedy::wait, doubt_};
    doubt_ = why;
    return {};
}

Result<Client*> Burst::client(Mode mode) {
    auto& place = mode == Mode::together ? parts_.clients.together : parts_.clients.alone;
    if (place) return place.get();
    Result<std::unique_ptr<Client>> opened =
        Client::open(parts_.options, mode, parts_.clients.batch_bytes, parts_.deadline);
    if (!opened) return opened.error();
    if (Result<void> connected = (*opened)->connect(parts_.deadline); !connected) {
        return connected.error();
    }
    place = std::move(opened).value();
    return place.get();
}

Result<void> Burst::send_all(Client& client, Mode mode) {
    const State wanted = mode == Mode::together ? State::open : State::suspect;
    for (std::size_t place = 0; place < states_.size(); ++place) {
        if (states_[place] != wanted || is_behind(place)) continue;
        const Result<Step> step = send(client, mode, place);
        if (!step) return step.error();
        if (*step == Step::stop) break;
    }
    return {};
}

Result<Burst::Step> Burst::send(Client& client, Mode mode, std::size_t place) {
    const Envelope& envelope = parts_.envelopes[place];
    const bool is_single = mode == Mode::alone;
    if (is_single && !flying_keys_.insert(key_of(envelope)).second) return Step::next;
    const Result<Topic*> topic = topic_of(client, place);
    if (!topic) return topic.error();
    if (*topic == nullptr) return Step::next;  // refused
    const std::int32_t partition = partition_of(**topic, envelope);
    partitions_[place] = partition;
    if (!takes(**topic, partition)) {
        const std::string name = rd_kafka_topic_name((*topic)->handle.get());
        if (!(*topic)->has_leader(partition)) note(name, partition, " has no leader", {});
        hinder(place, name);
        return Step::next;
    }
    if (!is_single && !lanes_.enter(**topic, partition, place)) return Step::next;
    return hand_over(client, {**topic, partition, envelope.key, place});
}

std::int32_t Burst::partition_of(Topic& topic, const Envelope& envelope) const {
    const std::int32_t count = topic.partition_count;
    if (!envelope.key.empty()) return parts_.writer.partition_of(envelope.key, count);
    return next_partition(topic.spread, count, begun_at_, [&](std::int32_t partition) {
        return takes(topic, partition);
    });
}

bool Burst::takes(const Topic& topic, std::int32_t partition) const {
    if (!topic.has_leader(partition)) return false;
    return !is_resting(topic.handle.get(), partition);
}

bool Burst::is_resting(const rd_kafka_topic_t* topic, std::int32_t partition) const {
    const Troubles& troubles = parts_.clients.troubles;
    if (troubles.empty()) return false;
    return troubles.is_resting(rd_kafka_topic_name(topic), partition, begun_at_);
}

Result<Topic*> Burst::topic_of(Client& client, std::size_t place) {
    const std::string& name = parts_.writer.topic_of(parts_.envelopes[place]);
    if (last_topic_ != nullptr && name == last_name_) return last_topic_;
    const auto refused = refused_topics_.find(name);
    std::string refusal = refused == refused_topics_.end() ? flaw_of(name) : refused->second;
    if (refusal.empty()) {
        Result<Topic*> topic = client.topic(name, parts_.deadline, patience_, refusal);
        if (!topic) return topic;
        last_topic_ = *topic;
        last_name_ = name;
        if (*topic != nullptr) return topic;
        refused_topics_[name] = refusal;
    }
    fail(place, Verdict::refused, refusal);
    return nullptr;
}

Result<Burst::Step> Burst::hand_over(Client& client, const Client::Address& address) {
    const Envelope& envelope = parts_.envelopes[address.place];
    const wire::Encoded message = parts_.writer.encode(envelope);
    // A document made of the message lives only until the next one is made.
    const bool copies = message.payload.data() != envelope.payload.data();
    rd_kafka_resp_err_t error = client.produce(address, message, copies);
    while (error == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
        const bool is_late = wire::millis_left(parts_.deadline) == 0;
        if (is_late || client.is_down()) return Step::stop;
        client.poll(parts_.deadline);
        error = client.produce(address, message, copies);
    }
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
        states_[address.place] = State::flying;
        ++flying_;
        return Step::next;
    }
    if (error == RD_KAFKA_RESP_ERR__FATAL) return Step::stop;
    const std::string reason = rd_kafka_err2str(error);
    switch (meaning_of(error, RD_KAFKA_MSG_STATUS_NOT_PERSISTED)) {
        case Meaning::messages:
            fail(address.place, Verdict::unacceptable, reason);
            return Step::next;
        case Meaning::topic:
            refuse_topic(client, address.place, reason);
            return Step::next;
        default:
            return Error{Remedy::wait, reason, error};
    }
}

void Burst::refuse_topic(Client& client, std::size_t place, const std::string& reason) {
    const std::string& name = parts_.writer.topic_of(parts_.envelopes[place]);
    const std::string refusal = "topic " + name + ": " + reason;
    client.forget(name);
    refused_topics_[name] = refusal;
    last_topic_ = nullptr;
    fail(place, Verdict::refused, refusal);
}

// Sends what has waited for the first message to its partition.
Result<void> Burst::follow(Client& client) {
    while (const std::optional<Lanes::Ready> ready = lanes_.take_ready()) {
        for (const std::size_t place : ready->places) {
            if (is_behind(place)) continue;
            const std::string_view key = parts_.envelopes[place].key;
            const Result<Step> step =
                hand_over(client, {*ready->topic, ready->partition, key, place});
            if (!step) return step.error();
            if (*step == Step::stop) return {};
        }
    }
    return {};
}

Result<void> Burst::collect(Client& client) {
    while (true) {
        const bool is_stopped = client.is_fatal();
        if (is_stopped) client.purge();
        if (Result<void> sent = is_stopped ? Result<void>() : follow(client); !sent) return sent;
        if (flying_ == 0) break;
        if (Result<void> heard = wait(client); !heard) return heard;
    }
    for (auto& [name, refusal] : refused_topics_) client.forget(name);
    return {};
}

// Waits for news. Error: none will come.
Result<void> Burst::wait(Client& client) {
    const std::size_t flying = flying_;
    const bool is_stopped = client.is_fatal();
    const MonoTime quiet_at = SystemClock().now() + (is_stopped ? kRecall : kQuiet);
    bool is_quiet = false;
    do {
        is_quiet = !client.poll(std::min(parts_.deadline, quiet_at));
    } while (flying_ == flying && !is_quiet && !is_over(client) && !client.is_fatal());
    if (!is_over(client)) {
        if (is_quiet && !is_stopped) look_for_leaders(client);
        return {};
    }
    while (client.poll({})) {  // what had come before
    }
    if (flying_ == 0) return {};
    return Error{Remedy::wait, client.is_down() ? client.why() : silence()};
}

bool Burst::is_over(const Client& client) const {
    return client.is_down() || wire::millis_left(parts_.deadline) == 0;
}

// The library would wait for a lost leader as long as we do.
void Burst::look_for_leaders(Client& client) {
    const Deadline deadline = std::min(parts_.deadline, SystemClock().now() + kLeaderPatience);
    std::set<std::pair<std::string, std::int32_t>> asked;
    for (std::size_t place = 0; place < states_.size(); ++place) {
        if (states_[place] != State::flying) continue;
        const std::string& name = parts_.writer.topic_of(parts_.envelopes[place]);
        const std::int32_t partition = partitions_[place];
        if (!asked.emplace(name, partition).second) continue;
        if (client.has_leader(name, partition, deadline)) continue;
        note(name, partition, " has no leader", kRest);
        client.give_up("a leader is lost");
    }
}

// Whose answer is missing.
std::string Burst::silence() const {
    const auto silent = std::find(states_.begin(), states_.end(), State::flying);
    const auto place = static_cast<std::size_t>(silent - states_.begin());
    return "no answer of Kafka before the deadline for " +
           name_of(parts_.writer.topic_of(parts_.envelopes[place]), partitions_[place]);
}

void Burst::take(const rd_kafka_message_t& message, Mode mode) {
    const auto place = reinterpret_cast<std::size_t>(message._private);
    --flying_;
    if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) return take_failure(message, mode);
    states_[place] = State::done;
    parts_.answers[place].verdict = Verdict::acknowledged;
    took_any_ = true;
    lanes_.acknowledge(message.rkt, message.partition);
    Troubles& troubles = parts_.clients.troubles;
    if (!troubles.empty()) troubles.forget(rd_kafka_topic_name(message.rkt), message.partition);
}

void Burst::take_failure(const rd_kafka_message_t& message, Mode mode) {
    const auto place = reinterpret_cast<std::size_t>(message._private);
    const std::string reason = rd_kafka_err2str(message.err);
    // Taken back from a partition that has lost its leader.
    const bool is_back = message.err == RD_KAFKA_RESP_ERR__PURGE_QUEUE;
    if (is_back && is_resting(message.rkt, message.partition)) {
        return hinder(place, rd_kafka_topic_name(message.rkt));
    }
    switch (meaning_of(message.err, rd_kafka_message_status(&message))) {
        case Meaning::messages:
            states_[place] = State::suspect;
            if (mode == Mode::alone) fail(place, Verdict::unacceptable, reason);
            break;
        case Meaning::topic: {
            const std::string name = rd_kafka_topic_name(message.rkt);
            const bool is_gone = message.err == RD_KAFKA_RESP_ERR__DESTROY;
            refused_topics_[name] = "topic " + name + ": " + (is_gone ? "it is gone" : reason);
            fail(place, Verdict::refused, refused_topics_[name]);
            break;
        }
        case Meaning::partition: {
            const std::string name = rd_kafka_topic_name(message.rkt);
            note(name, message.partition, ": " + reason, kRest);
            hinder(place, name);
            break;
        }
        case Meaning::unsent:
            back_ = reason;
            states_[place] = mode == Mode::alone ? State::suspect : State::open;
            break;
        case Meaning::unknown:
            states_[place] = State::done;
            parts_.answers[place].reason = reason;
            failed_keys_.insert(key_of(parts_.envelopes[place]));
            doubt_ = reason;
            break;
    }
}

// The partition takes nothing, and is left alone for so long.
void Burst::note(
    const std::string& topic,
    std::int32_t partition,
    std::string_view what,
    Duration rest
) {
    const std::string reason = name_of(topic, partition) + std::string(what);
    parts_.clients.troubles.note(topic, partition, reason, begun_at_, rest);
}

void Burst::hinder(std::size_t place, const std::string& topic) {
    fail(place, Verdict::refused, parts_.clients.troubles.reason(topic, partitions_[place]));
    hindered_.push_back(place);
}

// Where no partition took anything, the cluster is away and nobody is charged.
void Burst::judge_hindered() {
    for (const std::size_t place : hindered_) {
        const std::string& topic = parts_.writer.topic_of(parts_.envelopes[place]);
        if (parts_.clients.troubles.is_own(topic, partitions_[place])) continue;
        parts_.answers[place].verdict = Verdict::unanswered;
    }
}

void Burst::fail(std::size_t place, Verdict verdict, const std::string& reason) {
    states_[place] = State::done;
    parts_.answers[place] = {verdict, reason};
    failed_keys_.insert(key_of(parts_.envelopes[place]));
    if (verdict == Verdict::unacceptable) ++culprits_;
}

void Burst::suspect_all() {
    std::replace(states_.begin(), states_.end(), State::open, State::suspect);
}

// What must arrive before a suspect goes alone too: else the suspect would overtake it.
void Burst::suspect_what_is_before() {
    std::unordered_set<OrderKey> keys;
    for (std::size_t place = states_.size(); place-- > 0;) {
        if (states_[place] == State::suspect) keys.insert(key_of(parts_.envelopes[place]));
        if (keys.empty() || states_[place] != State::open) continue;
        if (keys.contains(key_of(parts_.envelopes[place]))) states_[place] = State::suspect;
    }
}

bool Burst::is_behind(std::size_t place) const {
    return !failed_keys_.empty() && failed_keys_.contains(key_of(parts_.envelopes[place]));
}

std::size_t Burst::count(State state) const {
    std::size_t found = 0;
    for (std::size_t place = 0; place < states_.size(); ++place) {
        if (states_[place] == state && !is_behind(place)) ++found;
    }
    return found;
}

void Burst::leave(std::string_view reason) {
    judge_hindered();
    for (std::size_t place = 0; place < states_.size(); ++place) {
        Answer& answer = parts_.answers[place];
        if (answer.verdict != Verdict::unanswered || !answer.reason.empty()) continue;
        answer.reason = is_behind(place) ? wire::kBehind : reason;
    }
}

}  // namespace outrider::kafka
