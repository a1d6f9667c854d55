#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "outrider/time.h"

namespace outrider::kafka {

// What is known against single partitions of a cluster that answers: they have no leader, or not
// enough replicas. Nobody else is to wait for them, so their messages are refused; but where no
// partition takes anything it is the cluster that is away, and nobody is to be charged for that.
// Pure: the time comes from outside. Outlives the clients of a connection.
class Troubles {
public:
    // A partition took nothing, and is to be left alone for a while.
    void note(
        const std::string& topic,
        std::int32_t partition,
        std::string reason,
        MonoTime now,
        Duration rest
    );

    // A partition took something.
    void forget(const std::string& topic, std::int32_t partition);

    // Some partition took something.
    void took(MonoTime now) { took_at_ = now; }

    // Whether a partition is to be left alone now.
    [[nodiscard]] bool is_resting(const std::string& topic, std::int32_t partition, MonoTime now)
        const;

    // What was noted last; empty: nothing.
    [[nodiscard]] std::string reason(const std::string& topic, std::int32_t partition) const;

    // Whether it is the partition's own trouble: another one took something since it began.
    [[nodiscard]] bool is_own(const std::string& topic, std::int32_t partition) const;

    [[nodiscard]] bool empty() const { return troubles_.empty(); }

private:
    struct Trouble {
        std::string reason;
        MonoTime since;
        MonoTime noted_at;
        MonoTime until;
    };

    std::map<std::pair<std::string, std::int32_t>, Trouble> troubles_;
    MonoTime took_at_ = MonoTime::min();
};

}  // namespace outrider::kafka
