#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "brokers/kafka/client.h"

namespace outrider::kafka {

// Who may go to which partition in a round, and who waits there. The first message to a partition
// that has nothing of this client goes ahead (see Burst for why); those behind it wait until it was
// acknowledged. No partition waits for another one.
class Lanes {
public:
    // Messages of one partition that may follow, in their order.
    struct Ready {
        Topic* topic = nullptr;
        std::int32_t partition = 0;
        std::vector<std::size_t> places;
    };

    // Nobody waits any more.
    void begin(MonoTime now);

    // Whether the message may go now; else it waits.
    [[nodiscard]] bool enter(Topic& topic, std::int32_t partition, std::size_t place);

    // The partition has acknowledged something.
    void acknowledge(const rd_kafka_topic_t* topic, std::int32_t partition);

    // Those of one partition, once. They go before anybody enters there again.
    [[nodiscard]] std::optional<Ready> take_ready();

private:
    using Lane = std::pair<const rd_kafka_topic_t*, std::int32_t>;

    MonoTime begun_at_;
    std::map<Lane, Ready> waiting_;
    std::vector<Lane> ready_;
};

}  // namespace outrider::kafka
