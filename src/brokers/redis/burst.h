#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "brokers/redis/commands.h"
#include "brokers/redis/options.h"
#include "brokers/wire/encoder.h"
#include "brokers/wire/target.h"
#include "core/batch.h"
#include "core/verdict.h"

namespace outrider::redis {

// Writes messages as XADD commands. Keeps its memory from burst to burst.
class Writer {
public:
    Writer(const RedisOptions& options, wire::Target target);

    // The stream that the message goes to. Lives until the next call.
    [[nodiscard]] const std::string& stream_of(const Envelope& envelope);

    void write(Commands& commands, const std::string& stream, const Envelope& envelope);

private:
    const std::uint64_t maxlen_;
    const wire::Target target_;
    wire::Encoder encoder_;
    std::string stream_;
};

// A part of a burst that Redis takes whole.
struct Transaction {
    std::vector<std::size_t> places;  // of its messages in the burst; none: there is nothing to do
    std::size_t start = 0;            // where in the burst it was planned
    std::size_t end = 0;              // where the next one begins
};

// One burst on its way to the server, transaction by transaction (MULTI ... EXEC), so that order
// holds whatever fails: all messages of a key that share a transaction go to one stream, hence
// stand or fall together; a transaction is executed when the one before it has been answered; and
// what lies behind a failed message of its key is not offered at all but left unanswered.
class Burst {
public:
    Burst(Writer& writer, std::span<const Envelope> envelopes, std::span<Answer> answers);

    // Plans the transaction that begins at `start`, without what lies behind a failure so far, and
    // appends its commands up to, but without EXEC; nothing if it has no messages. Values larger
    // than `value_bytes_max` (0: any) are answered at once.
    [[nodiscard]] Transaction plan(
        std::size_t start,
        Commands& commands,
        std::size_t value_bytes_max
    );

    // What became of a message.
    void acknowledge(std::size_t place) { answers_[place].verdict = Verdict::acknowledged; }
    void fail(std::size_t place, Verdict verdict, std::string_view reason);

    // How many have failed so far.
    [[nodiscard]] std::size_t failures() const { return failures_; }

    // What has no answer stays without one, for this reason.
    void leave(std::string_view reason);

private:
    // Whether it has failed, or a message before it of its key has.
    [[nodiscard]] bool is_stopped(std::size_t place) const;

    // Whether a message may share the transaction with those of its key that are already in it.
    [[nodiscard]] bool joins(OrderKey key, const std::string& stream);

    Writer& writer_;
    const std::span<const Envelope> envelopes_;
    const std::span<Answer> answers_;
    std::size_t failures_ = 0;
    std::unordered_map<std::string, std::size_t> streams_;
    std::unordered_map<OrderKey, std::size_t> stream_of_key_;
    std::unordered_map<OrderKey, std::size_t> failed_at_;  // the first failure of each key
};

}  // namespace outrider::redis
