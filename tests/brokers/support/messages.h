#pragma once

#include <deque>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "outrider/testing.h"

#include "core/broker.h"
#include "core/clock.h"
#include "core/hash.h"

namespace outrider::live {

inline Deadline in(Duration duration) {
    return SystemClock().now() + duration;
}

// Messages as a relay would offer them, and the memory they live in.
class Messages {
public:
    Envelope& add(testing::Received message) {
        if (message.id.is_nil()) message.id = MessageId::generate();
        const testing::Received& kept = kept_.emplace_back(std::move(message));
        auto& headers = headers_.emplace_back();
        for (const Header& header : kept.headers) headers.push_back({header.name, header.value});
        Envelope envelope;
        envelope.id = kept.id;
        envelope.topic = kept.topic;
        envelope.key = kept.key;
        envelope.type = kept.type;
        envelope.content_type = kept.content_type;
        envelope.payload = kept.payload;
        envelope.headers = headers;
        envelope.occurred_at = WallTime(std::chrono::milliseconds(1'700'000'000'123));
        envelope.seq = static_cast<std::int64_t>(kept_.size());
        envelope.order_key = order_key(Order::key, kept.topic, kept.key, envelope.seq);
        return envelopes_.emplace_back(envelope);
    }

    Envelope& add(std::string topic, std::string key, std::string payload) {
        testing::Received message;
        message.topic = std::move(topic);
        message.key = std::move(key);
        message.payload = std::move(payload);
        return add(std::move(message));
    }

    [[nodiscard]] const std::vector<Envelope>& envelopes() const { return envelopes_; }

private:
    std::deque<testing::Received> kept_;
    std::deque<std::vector<HeaderView>> headers_;
    std::vector<Envelope> envelopes_;
};

inline std::vector<Answer> publish(Broker& broker, const Messages& messages, Duration patience) {
    std::vector<Answer> answers(messages.envelopes().size());
    broker.publish(messages.envelopes(), in(patience), answers);
    return answers;
}

// With as much time as a busy machine may need under a sanitizer.
inline std::vector<Answer> publish(Broker& broker, const Messages& messages) {
    const auto count = static_cast<Duration::rep>(messages.envelopes().size());
    return publish(
        broker, messages, std::chrono::seconds(20) + count * std::chrono::milliseconds(5)
    );
}

inline std::size_t count(const std::vector<Answer>& answers, Verdict verdict) {
    std::size_t found = 0;
    for (const Answer& answer : answers) found += answer.verdict == verdict ? 1 : 0;
    return found;
}

inline Messages one(std::string payload = "x") {
    Messages messages;
    messages.add("t", "k", std::move(payload));
    return messages;
}

inline void expect_all(const std::vector<Answer>& answers) {
    for (const Answer& answer : answers) {
        EXPECT_EQ(answer.verdict, Verdict::acknowledged) << answer.reason;
    }
}

// Nobody was charged, and every message says why.
inline void expect_outage(const std::vector<Answer>& answers, const std::string& part) {
    for (const Answer& answer : answers) {
        EXPECT_EQ(answer.verdict, Verdict::unanswered);
        EXPECT_NE(answer.reason.find(part), std::string::npos) << answer.reason;
        EXPECT_FALSE(answer.reason.empty());
    }
}

}  // namespace outrider::live
