#pragma once

#include <cstdint>

#include <librdkafka/rdkafka.h>

namespace outrider::kafka {

// What an error says about the messages that have it.
enum class Meaning : std::uint8_t {
    unknown,    // nothing that counts as an answer: somebody may have them or not
    unsent,     // they were never sent, and may be offered again
    topic,      // their topic does not take them now, whatever they are
    partition,  // their partition takes nothing now, though it was tried for a while
    messages,   // one of those that were sent together is not acceptable
};

// Pure. `status` is what the library knows about their being stored.
[[nodiscard]] Meaning meaning_of(rd_kafka_resp_err_t error, rd_kafka_msg_status_t status);

// Pure. Whether messages with this error were sent and given up, so that nothing may follow them:
// the library goes on behind what was tried too often, although it is told to leave no gap.
[[nodiscard]] bool leaves_gap(rd_kafka_resp_err_t error);

}  // namespace outrider::kafka
