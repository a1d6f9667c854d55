#include "brokers/mqtt/flight.h"

#include <algorithm>

#include <mqtt_protocol.h>

#include "brokers/mqtt/classify.h"
#include "brokers/wire/socket.h"
#include "core/clock.h"

namespace outrider::mqtt {
namespace {

// The library copies what it has not sent yet; this bounds the copies.
constexpr std::size_t kWindowBytes = 1U << 20U;

}  // namespace

Result<void> Flight::make() {
    Result<void> made = publish_all();
    if (made) return made;
    parts_.connection.drain();
    take_acks();
    return made;
}

Result<void> Flight::publish_all() {
    for (std::size_t place = 0; place < parts_.envelopes.size(); ++place) {
        if (parts_.answers[place].verdict != Verdict::unanswered) continue;
        const bool is_full = parts_.one_by_one || open_bytes_ > kWindowBytes;
        const std::size_t most = is_full ? 0 : parts_.connection.window() - 1;
        if (Result<void> room = wait_for_room(most); !room) return room;
        if (Result<void> sent = send(place); !sent) return sent;
    }
    return wait_for_room(0);
}

Result<void> Flight::send(std::size_t place) {
    if (SystemClock().now() >= parts_.deadline) {
        return Error{Remedy::wait, "the deadline has passed"};
    }
    Publication publication;
    if (!parts_.writer.write(parts_.envelopes[place], publication, parts_.answers[place])) {
        return {};
    }
    int id = 0;
    const int code = mosquitto_publish_v5(
        parts_.connection.get(),
        &id,
        publication.topic.c_str(),
        static_cast<int>(publication.payload.size()),
        publication.payload.data(),
        static_cast<int>(parts_.options.qos),
        parts_.options.retain,
        publication.properties.get()
    );
    if (code == MOSQ_ERR_OVERSIZE_PACKET || code == MOSQ_ERR_PAYLOAD_SIZE) {
        parts_.answers[place] = {
            Verdict::unacceptable, mqtt_error("too large for the MQTT server", code).text, {}};
        return {};
    }
    // A topic that the writer has let through and the library does not take: this message only.
    if (code == MOSQ_ERR_MALFORMED_UTF8 || code == MOSQ_ERR_INVAL) {
        parts_.answers[place] = {Verdict::refused, mqtt_error("cannot publish", code).text, {}};
        return {};
    }
    if (code != MOSQ_ERR_SUCCESS) return mqtt_error("cannot publish", code);
    // An empty one is not kept: it deletes what the topic had.
    open_.emplace(id, Open{place, parts_.options.retain && !publication.payload.empty()});
    open_bytes_ += parts_.envelopes[place].payload.size();
    return {};
}

// Until at most so many messages are unacknowledged. The server may take its time as long as it
// acknowledges something now and then.
Result<void> Flight::wait_for_room(std::size_t most) {
    Deadline patience = SystemClock().now() + parts_.options.ack_wait;
    take_acks();
    while (open_.size() > most) {
        const Deadline until = std::min(parts_.deadline, patience);
        if (wire::millis_left(until) == 0) {
            return Error{Remedy::wait, "the MQTT server does not acknowledge in time"};
        }
        if (Result<void> moved = parts_.connection.pump(until); !moved) return moved;
        const std::size_t before = open_.size();
        take_acks();
        if (open_.size() < before) patience = SystemClock().now() + parts_.options.ack_wait;
    }
    return {};
}

void Flight::take_acks() {
    for (const Connection::Ack& ack : parts_.connection.take_acks()) {
        const auto found = open_.find(ack.id);
        if (found == open_.end()) continue;
        const Open open = found->second;
        open_.erase(found);
        Answer& answer = parts_.answers[open.place];
        open_bytes_ -= parts_.envelopes[open.place].payload.size();
        // A retained message has somebody who keeps it: the server.
        const bool is_kept = open.is_kept && ack.reason_code == MQTT_RC_NO_MATCHING_SUBSCRIBERS;
        answer.verdict = is_kept ? Verdict::acknowledged
                                 : classify(ack.reason_code, parts_.options.no_subscribers);
        had_answer_ |= answer.verdict != Verdict::unanswered;
        if (answer.verdict == Verdict::acknowledged) continue;
        had_refusal_ |= answer.verdict != Verdict::unanswered;
        answer.reason = "the MQTT server said: ";
        answer.reason += mosquitto_reason_string(ack.reason_code);
        if (!ack.text.empty()) answer.reason += " (" + ack.text + ")";
    }
}

}  // namespace outrider::mqtt
