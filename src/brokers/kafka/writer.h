#pragma once

#include <string>
#include <string_view>

#include "brokers/kafka/options.h"
#include "brokers/wire/encoder.h"
#include "brokers/wire/target.h"
#include "core/batch.h"

namespace outrider::kafka {

// A target whose own text may stand in the name of a topic.
[[nodiscard]] Result<wire::Target> parse_target(std::string_view text);

// What is wrong with the name of a topic; empty: nothing.
[[nodiscard]] std::string flaw_of(std::string_view topic);

// Decides where a message goes and how it looks. Keeps its memory from message to message. One
// thread at a time.
class Writer {
public:
    Writer(const KafkaOptions& options, wire::Target target);

    // Lives until the next call.
    [[nodiscard]] const std::string& topic_of(const Envelope& envelope);

    // The partition of a key among so many.
    [[nodiscard]] std::int32_t partition_of(std::string_view key, std::int32_t count) const;

    // Lives until the next call.
    [[nodiscard]] wire::Encoded encode(const Envelope& envelope);

private:
    const KafkaOptions::Partitioner partitioner_;
    const wire::Target target_;
    wire::Encoder encoder_;
    std::string topic_;
};

}  // namespace outrider::kafka
