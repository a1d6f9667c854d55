#include "brokers/redis/burst.h"

#include <algorithm>

#include "brokers/wire/chains.h"
#include "core/hash.h"

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

constexpr std::string_view kTooLarge = "larger than Redis takes (proto-max-bulk-len)";

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

Transaction Burst::plan(std::size_t start, Commands& commands, std::size_t value_bytes_max) {
    streams_.clear();
    stream_of_key_.clear();
    Transaction planned{.places = {}, .start = start, .end = start};
    const std::size_t bytes_before = commands.bytes().size();
    for (; planned.end < envelopes_.size(); ++planned.end) {
        const Envelope& envelope = envelopes_[planned.end];
        if (is_stopped(planned.end)) continue;
        const std::size_t bytes = commands.bytes().size() - bytes_before;
        if (planned.places.size() == kMessagesMax || bytes > kBytesMax) break;
        if (value_bytes_max != 0 && envelope.payload.size() > value_bytes_max) {
            fail(planned.end, Verdict::unacceptable, kTooLarge);
            continue;
        }
        const std::string& stream = writer_.stream_of(envelope);
        if (!joins(key_of(envelope), stream)) break;
        if (planned.places.empty()) commands.command({"MULTI"});
        writer_.write(commands, stream, envelope);
        planned.places.push_back(planned.end);
    }
    return planned;
}

bool Burst::joins(OrderKey key, const std::string& stream) {
    const std::size_t number = streams_.try_emplace(stream, streams_.size()).first->second;
    return stream_of_key_.try_emplace(key, number).first->second == number;
}

void Burst::fail(std::size_t place, Verdict verdict, std::string_view reason) {
    answers_[place] = {verdict, std::string(reason)};
    const auto [first, is_new] = failed_at_.try_emplace(key_of(envelopes_[place]), place);
    if (!is_new) first->second = std::min(first->second, place);
    ++failures_;
}

bool Burst::is_stopped(std::size_t place) const {
    const auto failed = failed_at_.find(key_of(envelopes_[place]));
    return failed != failed_at_.end() && place >= failed->second;
}

void Burst::leave(std::string_view reason) {
    for (std::size_t i = 0; i < answers_.size(); ++i) {
        Answer& one = answers_[i];
        if (one.verdict != Verdict::unanswered || !one.reason.empty()) continue;
        one.reason = is_stopped(i) ? wire::kBehind : reason;
    }
}

}  // namespace outrider::redis
