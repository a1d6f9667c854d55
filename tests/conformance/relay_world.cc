#include "conformance/relay_world.h"

#include <cstdlib>
#include <map>

#include <gtest/gtest.h>

#include "brokers/support/process.h"

namespace outrider::live {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kKeys = 16;

bool is_sanitized() {
    return std::getenv("SANITIZED") != nullptr;
}

Destination rules() {
    Destination destination;
    destination.name = "world";
    destination.publish_deadline = is_sanitized() ? seconds(5) : seconds(1);
    destination.outage_delay_first = milliseconds(20);
    destination.outage_delay_max = milliseconds(200);
    destination.retry.delay_first = milliseconds(50);
    destination.retry.delay_max = milliseconds(200);
    destination.retry.attempts_max = 0;
    destination.batch.messages = 100;
    return destination;
}

}  // namespace

void Listener::published(
    const Destination& /*destination*/,
    std::span<const Envelope> envelopes,
    std::span<const Answer> answers,
    Duration /*took*/
) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (answers[i].verdict == Verdict::acknowledged) {
            acknowledged_.insert(envelopes[i].id);
        } else if (answers[i].verdict == Verdict::unanswered) {
            unanswered_ += 1;
        } else {
            refused_ += 1;
        }
    }
}

void Listener::circuit_changed(
    const Destination& /*destination*/,
    CircuitState state,
    std::string_view /*reason*/
) {
    const std::lock_guard lock(mutex_);
    circuit_ = state;
}

void Listener::broker_statistics(const Destination& /*destination*/, std::string_view json) {
    const std::lock_guard lock(mutex_);
    statistics_ = json;
}

std::string Listener::statistics() const {
    const std::lock_guard lock(mutex_);
    return statistics_;
}

bool Listener::is_open() const {
    const std::lock_guard lock(mutex_);
    return circuit_ != CircuitState::closed;
}

std::size_t Listener::acknowledged() const {
    const std::lock_guard lock(mutex_);
    return acknowledged_.size();
}

std::size_t Listener::refused() const {
    const std::lock_guard lock(mutex_);
    return refused_;
}

std::size_t Listener::unanswered() const {
    const std::lock_guard lock(mutex_);
    return unanswered_;
}

RelayWorld::RelayWorld(const std::shared_ptr<BrokerDriver>& broker)
    : listener_(std::make_shared<Listener>()),
      relay_(store_.driver(), {}, listener_) {
    relay_.add(rules(), broker);
    relay_.start();
}

void RelayWorld::write(int count) {
    for (int i = 0; i < count; ++i) {
        Message message;
        message.topic = "t";
        message.key = std::to_string(written_ % kKeys);
        message.payload = std::to_string(written_) + std::string(500, ' ');
        message.occurred_at = WallTime(milliseconds(1'700'000'000'123));  // harnesses look
        auto transaction = store_.begin();
        ids_.push_back(transaction.enqueue(message));
        transaction.commit();
        written_ += 1;
    }
    relay_.wake();
}

void RelayWorld::await_acknowledged(std::size_t count) const {
    EXPECT_TRUE(wait_until([&] { return listener_->acknowledged() >= count; }, kPatience));
}

void RelayWorld::await_unanswered(std::size_t beyond) const {
    EXPECT_TRUE(wait_until([&] { return listener_->unanswered() > beyond; }, kPatience));
}

void RelayWorld::await_refused(std::size_t beyond) const {
    EXPECT_TRUE(wait_until([&] { return listener_->refused() > beyond; }, kPatience));
}

void RelayWorld::finish() {
    await_acknowledged(ids_.size());
    relay_.stop();
}

void RelayWorld::expect_everything(const std::vector<testing::Received>& received) const {
    std::map<MessageId, int> places;
    for (std::size_t i = 0; i < ids_.size(); ++i) places.emplace(ids_[i], static_cast<int>(i));
    std::set<MessageId> seen;
    std::map<std::string, int> last;
    for (const testing::Received& one : received) {
        ASSERT_TRUE(places.contains(one.id)) << "nobody wrote " << one.id.to_string();
        const int place = places.at(one.id);
        EXPECT_EQ(std::stoi(one.payload), place);
        EXPECT_EQ(one.key, std::to_string(place % kKeys));
        if (!seen.insert(one.id).second) continue;  // a repeat, after a fault
        const auto [before, is_first] = last.try_emplace(one.key, place);
        EXPECT_EQ(place, is_first ? place % kKeys : before->second + kKeys) << one.key;
        before->second = place;
    }
    EXPECT_EQ(seen.size(), ids_.size());
}

}  // namespace outrider::live
