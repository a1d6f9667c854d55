#include "brokers/nats/flight.h"

#include <algorithm>
#include <charconv>

#include "brokers/nats/classify.h"
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

}  // namespace

Flight::Flight(Parts parts)
    : parts_(parts),
      address_(parts.connection.inbox() + std::to_string(parts.number) + "."),
      open_(parts.envelopes.size(), false),
      chains_(parts.envelopes) {
}

bool Flight::is_full() const {
    return waiting() >= kWindowMessages || (waiting() > 0 && open_bytes_ >= kWindowBytes);
}

Result<void> Flight::make() {
    Result<void> made = publish_all();
    if (!made) refuse_strange();
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
    const Message message = parts_.writer.write(envelope, address_ + std::to_string(place), answer);
    if (message == nullptr) return {};
    const natsStatus status = parts_.connection.publish(*message);
    if (status == NATS_MAX_PAYLOAD) {
        answer = {Verdict::unacceptable, nats_error("too large for NATS", status).text};
        return {};
    }
    if (status != NATS_OK) return nats_error("cannot publish", status);
    open_[place] = true;
    open_count_ += 1;
    open_bytes_ += envelope.payload.size();
    return {};
}

Deadline Flight::patience(Duration wait) const {
    return std::min(parts_.deadline, SystemClock().now() + wait);
}

// Everything is at the server then, and it has complained if it wanted to.
Result<void> Flight::flush() {
    Result<void> read = parts_.connection.flush(patience(parts_.options.ack_wait));
    if (read) refuse_denied();
    return read;
}

Result<void> Flight::drain(std::size_t waiting_max) {
    if (open_count_ == 0) return {};
    bool flushed = false;
    if (waiting() < kStream) {
        if (Result<void> read = flush(); !read) return read;
        flushed = true;
    }
    while (waiting() > waiting_max) {
        Message reply;
        const Deadline until = patience(flushed ? parts_.options.ack_wait : kSilence);
        const Result<Connection::Found> found = parts_.connection.next(reply, until);
        if (!found && flushed) return found.error();
        if (!found) {
            if (Result<void> read = flush(); !read) return read;
            flushed = true;
        } else if (*found == Connection::Found::nobody) {
            nobody_ += 1;
        } else {
            take(*reply);
        }
    }
    refuse_unheard();
    return {};
}

void Flight::take(natsMsg& reply) {
    const std::string_view subject = natsMsg_GetSubject(&reply);
    if (!subject.starts_with(address_)) return;  // of an earlier burst
    const std::string_view number = subject.substr(address_.size());
    std::size_t place = open_.size();
    std::from_chars(number.data(), number.data() + number.size(), place);
    if (place >= open_.size() || !open_[place]) return;  // the second answer to one message
    const std::string_view text(
        natsMsg_GetData(&reply), static_cast<std::size_t>(natsMsg_GetDataLength(&reply))
    );
    std::optional<Answer> answer = read_ack(text, parts_.options.stream);
    if (answer) {
        close(place, std::move(*answer));
    } else {
        // The true answer may still come: it stays open.
        parts_.answers[place].reason = kStrange;
    }
}

void Flight::close(std::size_t place, Answer answer) {
    if (answer.verdict == Verdict::acknowledged) chains_.acknowledged(place);
    parts_.answers[place] = std::move(answer);
    open_[place] = false;
    open_count_ -= 1;
    open_bytes_ -= parts_.envelopes[place].payload.size();
}

// Somebody else listens to the subject, and no stream does: an operator can mend that.
void Flight::refuse_strange() {
    for (std::size_t place = 0; place < open_.size(); ++place) {
        if (open_[place] && parts_.answers[place].reason == kStrange) {
            close(place, {Verdict::refused, std::string(kStrange)});
        }
    }
}

// The server names the subject of the last publish that it did not permit. Others, if there are
// any, stay unanswered; the relay then offers them one at a time.
void Flight::refuse_denied() {
    const std::string denial = parts_.connection.denial();
    if (denial.empty()) return;
    was_denied_ = true;
    for (std::size_t place = 0; place < open_.size(); ++place) {
        if (!open_[place]) continue;
        const std::string& subject = parts_.writer.subject_of(parts_.envelopes[place]);
        if (denial.find("\"" + subject + "\"") == std::string::npos) continue;
        close(place, {Verdict::refused, "NATS said: " + denial});
    }
}

// Every message has exactly one answer. Once those that do not say whose they are, are as many as
// the messages left, it is clear whose they are.
void Flight::refuse_unheard() {
    if (waiting() > 0) return;
    for (std::size_t place = 0; place < open_.size(); ++place) {
        if (!open_[place]) continue;
        const std::string& subject = parts_.writer.subject_of(parts_.envelopes[place]);
        close(place, {Verdict::refused, "no stream takes the subject " + subject});
    }
    nobody_ = 0;
}

}  // namespace outrider::nats
