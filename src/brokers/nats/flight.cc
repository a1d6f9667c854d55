#include "brokers/nats/flight.h"

#include <algorithm>
#include <charconv>

#include "brokers/nats/stored.h"
#include "brokers/nats/streams.h"
#include "brokers/wire/answers.h"
#include "core/clock.h"

namespace outrider::nats {
namespace {

// A window of 256 messages reaches nine tenths of the server's speed. In bytes it is small enough
// for the buffers of a socket, so that a frozen server is met in a wait with a deadline, not in a
// write.
constexpr std::size_t kWindowMessages = 2048;
constexpr std::size_t kWindowBytes = 1U << 20U;

// With so many on their way the library's buffer flows over by itself: to wait for the server to
// have read all of them would let it wait for the next ones. But one that denies a subject is
// silent, so after this long it is asked.
constexpr std::size_t kStream = 256;
constexpr Duration kSilence = std::chrono::milliseconds(20);

constexpr std::string_view kStrange = "something that is not JetStream answered";

constexpr std::size_t kSaidBytesMax = 200;

// Marks an address where JetStream says what it has, not that it has it.
constexpr char kLook = '?';

}  // namespace

Flight::Flight(Parts parts)
    : parts_(parts),
      address_(parts.connection.inbox() + std::to_string(parts.number) + "."),
      places_(parts.envelopes.size()),
      chains_(parts.envelopes) {
}

bool Flight::is_full() const {
    return waiting() >= kWindowMessages || (waiting() > 0 && open_bytes_ >= kWindowBytes);
}

Result<void> Flight::make() {
    Result<void> made = publish_all();
    if (made) wire::explain(parts_.answers, wire::kBehind);
    return made;
}

Result<void> Flight::publish_all() {
    while (true) {
        while (chains_.is_any_ready() && !is_full()) {
            if (Result<void> sent = send(chains_.next()); !sent) return sent;
        }
        if (open_count_ == 0 && !chains_.is_any_ready()) return {};
        // Half of them, so that the server has something to do while their followers are published.
        if (Result<void> done = drain(waiting() / 2); !done) return done;
    }
}

Result<void> Flight::send(std::size_t place) {
    if (SystemClock().now() >= parts_.deadline) {
        return Error{Remedy::wait, "the deadline has passed"};
    }
    const Envelope& envelope = parts_.envelopes[place];
    Answer& answer = parts_.answers[place];
    const Message message = parts_.writer.write(
        envelope, {address_ + std::to_string(place), deduplicates(place)}, answer
    );
    if (message == nullptr) return {};
    const natsStatus status = parts_.connection.publish(*message);
    if (status == NATS_MAX_PAYLOAD) {
        answer = {Verdict::unacceptable, nats_error("too large for NATS", status).text};
        return {};
    }
    if (status != NATS_OK) return nats_error("cannot publish", status);
    places_[place].is_open = true;
    open_count_ += 1;
    open_bytes_ += envelope.payload.size();
    is_flushed_ = false;
    return {};
}

bool Flight::deduplicates(std::size_t place) const {
    return parts_.options.deduplicate && !places_[place].is_renewed;
}

Deadline Flight::patience(Duration wait) const {
    return std::min(parts_.deadline, SystemClock().now() + wait);
}

// Once everything is at the server it may be silent for ack_wait, but some of the time is left to
// ask why.
Deadline Flight::silence_end() const {
    if (!is_flushed_) return patience(kSilence);
    const Duration left = parts_.deadline - SystemClock().now();
    return patience(std::min<Duration>(parts_.options.ack_wait, left * 3 / 4));
}

// Everything is at the server then, and it has complained if it wanted to.
Result<void> Flight::flush() {
    Result<void> read = parts_.connection.flush(patience(parts_.options.ack_wait));
    is_flushed_ = read.has_value();
    if (read) heed_denial();
    return read;
}

Result<void> Flight::drain(std::size_t waiting_max) {
    if (open_count_ == 0) return {};
    if (waiting() < kStream) {
        if (Result<void> read = flush(); !read) return read;
    }
    while (waiting() > waiting_max) {
        Message reply;
        const Result<Connection::Found> found = parts_.connection.next(reply, silence_end());
        if (!found && is_flushed_) return explain_silence(found.error());
        if (!found) {
            if (Result<void> read = flush(); !read) return read;
        } else if (*found == Connection::Found::nobody) {
            nobody_ += 1;
        } else if (Result<void> taken = take(*reply); !taken) {
            return taken;
        }
    }
    return waiting() > 0 ? Result<void>() : answer_unheard();
}

Result<void> Flight::take(natsMsg& reply) {
    std::string_view subject = natsMsg_GetSubject(&reply);
    if (!subject.starts_with(address_)) return {};  // of an earlier burst
    subject.remove_prefix(address_.size());
    const bool is_look = subject.starts_with(kLook);
    if (is_look) subject.remove_prefix(1);
    std::size_t place = places_.size();
    std::from_chars(subject.data(), subject.data() + subject.size(), place);
    // The second answer to one message.
    if (place >= places_.size() || !places_[place].is_open) return {};
    if (is_look != places_[place].is_looked_for) return {};
    const std::string_view text(
        natsMsg_GetData(&reply), static_cast<std::size_t>(natsMsg_GetDataLength(&reply))
    );
    if (is_look) {
        take_stored(place, text);
        return {};
    }
    std::optional<Ack> ack = read_ack(text, parts_.options.stream);
    if (ack) return take_ack(place, std::move(*ack));
    // The true answer may still come: it stays open.
    parts_.answers[place].reason = kStrange;
    return {};
}

Result<void> Flight::take_ack(std::size_t place, Ack ack) {
    const bool is_taken = ack.answer.verdict == Verdict::acknowledged;
    if (is_taken && ack.is_duplicate) return look_for(place, ack);
    if (is_taken && places_[place].is_renewed) {
        parts_.renewals.remember(parts_.envelopes[place].order_key, ack.sequence);
    }
    close(place, std::move(ack.answer));
    return {};
}

// A stream that says "duplicate" may have lost the message since, or have taken another for it.
// Only what it holds counts.
Result<void> Flight::look_for(std::size_t place, const Ack& ack) {
    if (!deduplicates(place)) {
        close(place, {Verdict::unanswered, "JetStream called it a duplicate, but it has no id"});
        return {};
    }
    const OrderKey key = parts_.envelopes[place].order_key;
    if (!parts_.connection.has_api() || parts_.renewals.is_overtaken(key, ack.sequence)) {
        renew(place);
        return {};
    }
    const natsStatus status = parts_.connection.ask_later(
        stored_question(ack.stream),
        stored_body(ack.sequence),
        address_ + kLook + std::to_string(place)
    );
    if (status != NATS_OK) return nats_error("cannot ask JetStream", status);
    places_[place].is_looked_for = true;
    is_flushed_ = false;
    return {};
}

void Flight::take_stored(std::size_t place, std::string_view text) {
    const Envelope& envelope = parts_.envelopes[place];
    switch (read_stored(text, envelope.id.to_string(), parts_.writer.subject_of(envelope))) {
        case Stored::there:
            return close(place, {Verdict::acknowledged, {}});
        case Stored::gone:
            return renew(place);
        case Stored::unknown:
            break;
    }
    const std::string said(text.substr(0, kSaidBytesMax));
    close(place, {Verdict::unanswered, "JetStream called it a duplicate, but said: " + said});
}

void Flight::leave(std::size_t place) {
    places_[place].is_open = false;
    places_[place].is_looked_for = false;
    open_count_ -= 1;
    open_bytes_ -= parts_.envelopes[place].payload.size();
}

void Flight::renew(std::size_t place) {
    leave(place);
    places_[place].is_renewed = true;
    chains_.again(place);
}

void Flight::close(std::size_t place, Answer answer) {
    leave(place);
    if (answer.verdict == Verdict::acknowledged) chains_.acknowledged(place);
    parts_.answers[place] = std::move(answer);
}

// Who may not look at what a stream has, cannot know that it has the message.
void Flight::heed_denial() {
    const std::string denial = parts_.connection.denial();
    if (denial.empty()) return;
    was_denied_ = true;
    refuse_denied(denial);
    if (denial.find(stored_question("")) == std::string::npos) return;
    for (std::size_t place = 0; place < places_.size(); ++place) {
        if (places_[place].is_looked_for) renew(place);
    }
}

// The server names the subject of the last publish that it did not permit. Others, if there are
// any, stay unanswered; the relay then offers them one at a time.
void Flight::refuse_denied(const std::string& denial) {
    for (std::size_t place = 0; place < places_.size(); ++place) {
        if (!places_[place].is_open) continue;
        const std::string& subject = parts_.writer.subject_of(parts_.envelopes[place]);
        if (denial.find("\"" + subject + "\"") == std::string::npos) continue;
        close(place, {Verdict::refused, "NATS said: " + denial});
    }
}

// The server is there, but owes acknowledgements. A subject that no stream takes has none if
// somebody else listens to it: that an operator can mend. If this is true of all that are open,
// nothing is owed, and the burst goes on.
Result<void> Flight::explain_silence(const Error& silence) {
    owes_ = false;
    if (Result<void> answered = answer_unheard(); !answered) return answered;
    return owes_ ? Result<void>(silence) : Result<void>();
}

// Every message has exactly one answer. Once those that do not say whose they are, are as many as
// the messages left, it is clear whose they are. Nobody hears a subject that no stream takes, but
// also one whose stream has no leader: only JetStream itself knows.
Result<void> Flight::answer_unheard() {
    for (std::size_t place = 0; place < places_.size(); ++place) {
        if (!places_[place].is_open) continue;
        if (Result<void> answered = answer_by_stream(place); !answered) return answered;
    }
    nobody_ = 0;
    return {};
}

Result<void> Flight::answer_by_stream(std::size_t place) {
    const std::string subject = parts_.writer.subject_of(parts_.envelopes[place]);
    const Result<std::string> stream = stream_of(subject);
    if (!stream) return stream.error();
    if (stream->empty()) {
        const bool is_strange = parts_.answers[place].reason == kStrange;
        const std::string who = is_strange ? std::string(kStrange) + ", and " : "";
        close(place, {Verdict::refused, who + "no stream takes the subject " + subject});
        return {};
    }
    owes_ = true;
    close(
        place,
        {Verdict::unanswered,
         "the stream " + *stream + " takes " + subject +
             ", but does not acknowledge it: it has no leader now, or no_ack"}
    );
    return {};
}

Result<std::string> Flight::stream_of(const std::string& subject) {
    if (const auto known = streams_.find(subject); known != streams_.end()) return known->second;
    const Result<std::string> reply = parts_.connection.ask(
        kStreamsQuestion, streams_body(subject), patience(parts_.options.ack_wait)
    );
    if (!reply) return reply.error();
    Result<std::string> stream = read_streams(*reply);
    if (stream) streams_.emplace(subject, *stream);
    return stream;
}

}  // namespace outrider::nats
