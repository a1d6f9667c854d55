#include "brokers/redis/burst.h"

namespace outrider::redis {
namespace {

// A transaction keeps everybody else waiting while it is executed: a thousand small messages take
// about three milliseconds.
constexpr std::size_t kMessagesMax = 1000;
constexpr std::size_t kBytesMax = 1U << 20U;

// What the promise of order is about: topic and key, whatever the destination wants to be ordered.
OrderKey key_of(const Envelope& envelope) {
    return order_key(Order::key, envelope.topic, envelope.key, envelope.seq);
}

constexpr std::string_view kBehind = "not offered: an earlier message of its key failed";

}  // namespace

Writer::Writer(const RedisOptions& options, wire::Target target)
    : maxlen_(options.maxlen),
      target_(std::move(target)),
      encoder_(options.wire, {.attribute_prefix = "ce_"}) {
}

const std::string& Writer::stream_of(const Envelope& envelope) {
    stream_.clear();
    target_.append(stream_, envelope);
    return stream_;
}

void Writer::write(Commands& commands, const std::string& stream, const Envelope& envelope) {
    const wire::Encoded encoded = encoder_.encode(envelope);
    const bool has_type = !encoded.content_type.empty();
    const std::size_t fields = encoded.headers.size() + (has_type ? 2 : 1);
    commands.begin((maxlen_ > 0 ? 6 : 3) + 2 * fields);
    commands.word("XADD");
    commands.word(stream);
    if (maxlen_ > 0) {
        commands.word("MAXLEN");
        commands.word("~");
        commands.word(std::to_string(maxlen_));
    }
    commands.word("*");
    for (const HeaderView& header : encoded.headers) {
        commands.word(header.name);
        commands.word(header.value);
    }
    if (has_type) {
        commands.word("content-type");
        commands.word(encoded.content_type);
    }
    // Last, so that a client that makes a map of the fields takes it for the payload even if the
    // message has a header of that name.
    commands.word("payload");
    commands.word(encoded.payload);
}

Burst::Burst(Writer& writer, std::span<const Envelope> envelopes, std::span<Answer> answers)
    : writer_(writer),
      envelopes_(envelopes),
      answers_(answers) {
}

bool Burst::plan(Commands& commands, std::size_t value_bytes_max) {
    current_.clear();
    streams_.clear();
    stream_of_key_.clear();
    commands.command({"MULTI"});
    for (end_ = start_; end_ < envelopes_.size(); ++end_) {
        const Envelope& envelope = envelopes_[end_];
        const OrderKey key = key_of(envelope);
        if (failed_keys_.contains(key)) continue;
        if (current_.size() == kMessagesMax || commands.bytes().size() > kBytesMax) break;
        if (value_bytes_max != 0 && envelope.payload.size() > value_bytes_max) {
            answer(end_, Verdict::unacceptable, "larger than Redis takes (proto-max-bulk-len)");
            continue;
        }
        const std::string& stream = writer_.stream_of(envelope);
        if (!joins(key, stream)) break;
        writer_.write(commands, stream, envelope);
        current_.push_back(end_);
    }
    commands.command({"EXEC"});
    return !current_.empty();
}

bool Burst::joins(OrderKey key, const std::string& stream) {
    const std::size_t number = streams_.try_emplace(stream, streams_.size()).first->second;
    return stream_of_key_.try_emplace(key, number).first->second == number;
}

void Burst::acknowledge(std::size_t place) {
    answers_[current_[place]].verdict = Verdict::acknowledged;
}

void Burst::fail(std::size_t place, Verdict verdict, std::string_view reason) {
    answer(current_[place], verdict, reason);
}

void Burst::answer(std::size_t at, Verdict verdict, std::string_view reason) {
    answers_[at] = {verdict, std::string(reason)};
    failed_keys_.insert(key_of(envelopes_[at]));
}

void Burst::leave(std::string_view reason) {
    for (std::size_t i = 0; i < answers_.size(); ++i) {
        Answer& one = answers_[i];
        if (one.verdict != Verdict::unanswered || !one.reason.empty()) continue;
        one.reason = failed_keys_.contains(key_of(envelopes_[i])) ? kBehind : reason;
    }
}

}  // namespace outrider::redis
