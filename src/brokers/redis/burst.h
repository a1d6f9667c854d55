#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
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

// One burst on its way to the server, transaction by transaction (MULTI ... EXEC), so that order
// holds whatever fails: all messages of a key that share a transaction go to one stream, hence
// stand or fall together; the next transaction is begun when this one has been answered; and what
// lies behind a failed message of its key is not offered at all but left unanswered.
class Burst {
public:
    Burst(Writer& writer, std::span<const Envelope> envelopes, std::span<Answer> answers);

    // Plans the next transaction and appends its commands, MULTI to EXEC. False: nothing is left to
    // offer. Values larger than `value_bytes_max` (0: any) are answered at once.
    [[nodiscard]] bool plan(Commands& commands, std::size_t value_bytes_max);

    // How many messages the planned transaction has, and what became of one of them.
    [[nodiscard]] std::size_t size() const { return current_.size(); }
    void acknowledge(std::size_t place);
    void fail(std::size_t place, Verdict verdict, std::string_view reason);

    // The planned transaction was executed: the next plan() goes on behind it. Without this call it
    // is planned again, without the keys that have failed.
    void finish() { start_ = end_; }

    // What has no answer stays without one, for this reason.
    void leave(std::string_view reason);

private:
    // Whether a message may share the transaction with those of its key that are already in it.
    [[nodiscard]] bool joins(OrderKey key, const std::string& stream);
    void answer(std::size_t at, Verdict verdict, std::string_view reason);

    Writer& writer_;
    const std::span<const Envelope> envelopes_;
    const std::span<Answer> answers_;
    std::size_t start_ = 0;             // of the planned transaction
    std::size_t end_ = 0;               // behind it
    std::vector<std::size_t> current_;  // what it offers
    std::unordered_map<std::string, std::size_t> streams_;
    std::unordered_map<OrderKey, std::size_t> stream_of_key_;
    std::unordered_set<OrderKey> failed_keys_;
};

}  // namespace outrider::redis
