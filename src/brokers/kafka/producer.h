#pragma once

#include <memory>
#include <string>

#include <librdkafka/rdkafka.h>

#include "brokers/kafka/options.h"
#include "core/batch.h"

namespace outrider::kafka {

template <class T, void (*destroy)(T*)>
struct Destroy {
    void operator()(T* object) const { destroy(object); }
};

using Producer = std::unique_ptr<rd_kafka_t, Destroy<rd_kafka_t, rd_kafka_destroy>>;

// How a client sends.
enum class Mode : std::uint8_t {
    // As many messages together as fit. Idempotent: retries of the library neither repeat nor
    // reorder, and after a failure that leaves a gap the client sends nothing more (is_fatal).
    together,

    // Each message in a request of its own, tried once, so that an error is about that message and
    // nobody else. Order is not kept.
    alone,
};

// How long one broker may be silent before it is left and others are asked, where a burst has so
// much time: short enough to go on elsewhere within the burst. Pure.
[[nodiscard]] Duration silence_max(Duration burst);

// The brokers that were named, as the library and people read them.
[[nodiscard]] std::string addresses_of(const KafkaOptions& options);

// A producer of the library with our settings, which tells everything by events. Error: the options
// do not fit. Batches of several messages have at most `batch_bytes`; `burst` is how long the first
// one has.
[[nodiscard]] Result<Producer> make_producer(
    const KafkaOptions& options,
    Mode mode,
    std::size_t batch_bytes,
    Duration burst
);

}  // namespace outrider::kafka
