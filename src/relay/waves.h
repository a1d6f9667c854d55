#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/batch.h"
#include "core/broker.h"
#include "core/decide.h"

namespace outrider {

// Chooses which messages of a batch go to the broker together. Messages of one key form a chain; a
// wave takes the first open message of each chain, or whole chains where the broker keeps order by
// itself. A chain ends at a message that must not be offered (blocked, not due) or that failed.
class Waves {
public:
    // The views must outlive the waves.
    Waves(const Batch& batch, const Destination& destination, BrokerTraits traits);

    // The next messages to offer, as places in the batch, rising; empty: there are none. Messages
    // that no broker could take are not offered: their settlement is written instead, with the dice
    // for nothing but form's sake.
    [[nodiscard]] std::vector<std::size_t> next(std::span<Settlement> settlements, Dice& dice);

private:
    // The first message at or behind `place` in its chain that may be offered, deciding what comes
    // before it.
    std::size_t seek(std::size_t place, std::span<Settlement> settlements, Dice& dice) const;
    [[nodiscard]] std::string flaw(const Envelope& envelope) const;

    const Batch& batch_;
    const Destination& destination_;
    const bool keeps_order_;
    const std::size_t payload_bytes_max_;
    std::vector<std::size_t> successors_;  // next of the same key
    std::vector<std::size_t>
        front_;  // of each chain that goes on: the message offered last, or its head
    bool started_ = false;
};

}  // namespace outrider
