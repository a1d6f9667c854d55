#include "brokers/rabbitmq/flight.h"

#include <algorithm>

#include "brokers/wire/socket.h"

namespace outrider::rabbitmq {
namespace {

constexpr std::size_t kWindowMessages = 2048;
constexpr std::size_t kWindowBytes = 1U << 20U;

constexpr std::string_view kNacked =
    "RabbitMQ did not take it (nack): its queue is full or in trouble";

}  // namespace

Flight::Flight(Parts parts)
    : parts_(parts),
      chains_(parts.envelopes),
      states_(parts.envelopes.size(), State::unsent),
      returned_(parts.envelopes.size(), false) {
}

bool Flight::is_full() const {
    return open_count_ >= kWindowMessages || (open_count_ > 0 && open_bytes_ >= kWindowBytes);
}

Result<void> Flight::make() {
    while (true) {
        if (Result<void> done = publish_all(); !done) return done;
        if (!closure_) return {};
        if (Result<void> again = start_again(); !again) return again;
    }
}

Result<void> Flight::publish_all() {
    while (!closure_) {
        while (chains_.is_any_ready() && !is_full() && !closure_) {
            const std::size_t place = chains_.next();
            const bool is_suspect = states_[place] == State::suspect;
            Result<void> sent = is_suspect ? send_alone(place) : send(place);
            if (!sent) return sent;
        }
        if (open_count_ == 0 && !chains_.is_any_ready()) return {};
        // Half of them, so that the server has something to do while their followers are published.
        if (Result<void> done = drain(open_count_ / 2); !done) return done;
    }
    return {};
}

Result<void> Flight::send(std::size_t place) {
    if (wire::millis_left(parts_.deadline) == 0) {
        return Error{Remedy::wait, "the deadline has passed"};
    }
    const Envelope& envelope = parts_.envelopes[place];
    Answer flaw;
    Connection::Publication publication;
    if (!parts_.writer.write(envelope, parts_.connection.frame_bytes_max(), publication, flaw)) {
        close(place, std::move(flaw));
        return {};
    }
    if (parts_.payload_bytes_max != 0 && publication.payload.size() > parts_.payload_bytes_max) {
        close(place, {Verdict::unacceptable, "larger than RabbitMQ takes (max_message_size)"});
        return {};
    }
    const Result<bool> refused = is_refused(place, std::string(publication.exchange));
    if (!refused) return refused.error();
    if (*refused) return {};
    const Result<std::uint64_t> tag = parts_.connection.publish(publication);
    if (!tag) return tag.error();
    if (places_.empty()) first_tag_ = *tag;
    places_.push_back(place);
    states_[place] = State::open;
    open_count_ += 1;
    open_bytes_ += envelope.payload.size();
    return {};
}

Result<void> Flight::send_alone(std::size_t place) {
    if (Result<void> done = drain(0); !done) return done;
    if (closure_) {
        chains_.again(place);
        return {};
    }
    if (Result<void> sent = send(place); !sent) return sent;
    return drain(0);
}

// A publish to an exchange that is not there would close the channel, and with it the way of all
// the others.
Result<bool> Flight::is_refused(std::size_t place, const std::string& exchange) {
    const Result<Closure> missing = parts_.connection.look_for(exchange, parts_.deadline);
    if (!missing) return missing.error();
    if (missing->code == 0) return false;
    const Verdict verdict = classify(*missing);
    if (verdict == Verdict::unanswered) return Error{Remedy::wait, missing->text};
    close(place, {verdict, "RabbitMQ said: " + missing->text});
    return true;
}

Result<void> Flight::drain(std::size_t open_max) {
    while (open_count_ > open_max && !closure_) {
        amqp_frame_t frame{};
        const Result<bool> found = parts_.connection.next(frame, parts_.deadline);
        if (!found) return found.error();
        if (!*found) return Error{Remedy::wait, "no confirm of RabbitMQ before the deadline"};
        if (Result<void> taken = take(frame); !taken) return taken;
        parts_.connection.release();
    }
    return {};
}

Result<void> Flight::take(const amqp_frame_t& frame) {
    if (frame.frame_type == AMQP_FRAME_METHOD) {
        if (frame.channel == 0) return take_control(frame.payload.method);
        if (frame.channel == kChannel) return take_method(frame.payload.method);
    }
    if (!return_ || frame.channel != kChannel) return {};
    if (frame.frame_type == AMQP_FRAME_HEADER) return take_returned_header(frame);
    if (frame.frame_type == AMQP_FRAME_BODY) {
        return_->body_left -= std::min(return_->body_left, frame.payload.body_fragment.len);
        if (return_->body_left == 0) return_.reset();
    }
    return {};
}

Result<void> Flight::take_control(const amqp_method_t& method) {
    if (method.id == AMQP_CONNECTION_BLOCKED_METHOD) {
        const auto* blocked = static_cast<const amqp_connection_blocked_t*>(method.decoded);
        return Error{
            Remedy::wait,
            "RabbitMQ has blocked publishers: " + std::string(to_view(blocked->reason))};
    }
    if (method.id == AMQP_CONNECTION_CLOSE_METHOD) {
        const auto* close = static_cast<const amqp_connection_close_t*>(method.decoded);
        return Error{
            Remedy::wait,
            "RabbitMQ closed the connection: " + std::string(to_view(close->reply_text))};
    }
    return {};
}

Result<void> Flight::take_method(const amqp_method_t& method) {
    if (method.id == AMQP_BASIC_ACK_METHOD) {
        const auto* ack = static_cast<const amqp_basic_ack_t*>(method.decoded);
        confirm(ack->delivery_tag, ack->multiple != 0, true);
    } else if (method.id == AMQP_BASIC_NACK_METHOD) {
        const auto* nack = static_cast<const amqp_basic_nack_t*>(method.decoded);
        confirm(nack->delivery_tag, nack->multiple != 0, false);
    } else if (method.id == AMQP_BASIC_RETURN_METHOD) {
        const auto* back = static_cast<const amqp_basic_return_t*>(method.decoded);
        return_ = Return{
            "RabbitMQ returned it: " + std::string(to_view(back->reply_text)) + ", exchange '" +
                std::string(to_view(back->exchange)) + "', routing key '" +
                std::string(to_view(back->routing_key)) + "'",
            std::nullopt,
            0};
    } else if (method.id == AMQP_CHANNEL_CLOSE_METHOD) {
        const auto* close = static_cast<const amqp_channel_close_t*>(method.decoded);
        closure_ = Closure{close->reply_code, std::string(to_view(close->reply_text))};
    }
    return {};
}

// Whose return it is says the message itself. The confirm that follows is then none.
Result<void> Flight::take_returned_header(const amqp_frame_t& frame) {
    const auto* properties =
        static_cast<const amqp_basic_properties_t*>(frame.payload.properties.decoded);
    std::optional<MessageId> id;
    if ((properties->_flags & AMQP_BASIC_MESSAGE_ID_FLAG) != 0) {
        id = MessageId::parse(to_view(properties->message_id));
    }
    bool found = false;
    for (std::size_t at = lowest_; id && at < places_.size(); ++at) {
        const std::size_t place = places_[at];
        if (states_[place] != State::open || parts_.envelopes[place].id != *id) continue;
        returned_[place] = true;
        parts_.answers[place].reason = return_->reason;
        found = true;
    }
    // Counting the confirm of a message that came back as a success would lose it.
    if (!found) return Error{Remedy::call, "RabbitMQ returned a message that nobody sent"};
    return_->body_left = frame.payload.properties.body_size;
    if (return_->body_left == 0) return_.reset();
    return {};
}

void Flight::confirm(std::uint64_t tag, bool multiple, bool is_good) {
    if (places_.empty() || tag < first_tag_) return;
    const auto last = static_cast<std::size_t>(tag - first_tag_);
    if (last >= places_.size()) return;
    for (std::size_t at = multiple ? lowest_ : last; at <= last; ++at) {
        const std::size_t place = places_[at];
        if (states_[place] != State::open) continue;
        if (returned_[place]) {
            const bool waits = parts_.options.unroutable == Unroutable::refused;
            const Verdict verdict = waits ? Verdict::refused : Verdict::unacceptable;
            close(place, {verdict, std::move(parts_.answers[place].reason)});
        } else if (is_good) {
            close(place, {Verdict::acknowledged, {}});
        } else {
            close(place, {Verdict::refused, std::string(kNacked)});
        }
    }
    while (lowest_ < places_.size() && states_[places_[lowest_]] == State::answered) ++lowest_;
}

void Flight::close(std::size_t place, Answer answer) {
    if (states_[place] == State::open) {
        open_count_ -= 1;
        open_bytes_ -= parts_.envelopes[place].payload.size();
    }
    states_[place] = State::answered;
    if (answer.verdict == Verdict::acknowledged) chains_.acknowledged(place);
    parts_.answers[place] = std::move(answer);
}

// The channel is closed, and everything open on it is lost, or was taken without a word. What is
// not to blame is published again.
Result<void> Flight::start_again() {
    const Verdict verdict = classify(*closure_);
    if (verdict == Verdict::unanswered) {
        return Error{Remedy::wait, "RabbitMQ closed the channel: " + closure_->text};
    }
    take_back(answer_culprits(verdict) ? State::unsent : State::suspect);
    places_.clear();
    lowest_ = 0;
    open_count_ = 0;
    open_bytes_ = 0;
    return_.reset();
    closure_.reset();
    return parts_.connection.reopen(parts_.deadline);
}

void Flight::take_back(State state) {
    for (const std::size_t place : places_) {
        if (states_[place] != State::open) continue;
        states_[place] = state;
        chains_.again(place);
        returned_[place] = false;
        parts_.answers[place].reason.clear();
    }
}

// Whether there were any.
bool Flight::answer_culprits(Verdict verdict) {
    const Sizes sizes = sizes_in(closure_->text);
    if (sizes.most != 0) parts_.payload_bytes_max = sizes.most;
    const bool is_alone = open_count_ == 1;
    bool found = false;
    for (const std::size_t place : places_) {
        if (states_[place] != State::open) continue;
        if (!is_alone && !is_culprit(parts_.envelopes[place], sizes)) continue;
        close(place, {verdict, "RabbitMQ said: " + closure_->text});
        found = true;
    }
    return found;
}

bool Flight::is_culprit(const Envelope& envelope, const Sizes& sizes) {
    Answer flaw;
    Connection::Publication publication;
    if (!parts_.writer.write(envelope, parts_.connection.frame_bytes_max(), publication, flaw)) {
        return false;
    }
    if (sizes.message != 0) return publication.payload.size() == sizes.message;
    return is_about(closure_->text, publication.exchange, publication.routing_key);
}

}  // namespace outrider::rabbitmq
