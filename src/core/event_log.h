#pragma once

#include <span>
#include <vector>

#include "outrider/message.h"

namespace outrider {

// A message with its place in the order of all that this process has recorded. Ids rise within a
// process, so a fresh one is the place.
struct Recorded {
    MessageId place = MessageId::generate();
    Message message;
};

// Gives the message its place, and an id if it has none: the same whenever it is written.
[[nodiscard]] Recorded record_now(Message message);

// The events of one entity, shared by the entity and the transaction that tracks it.
class EventLog {
public:
    void add(Recorded event) { events_.push_back(std::move(event)); }

    [[nodiscard]] std::span<const Recorded> events() const { return events_; }

    // One transaction at a time. False: another has it.
    [[nodiscard]] bool track(const void* owner);

    // The transaction is over. Everything was sent, or everything is as it was when it began.
    void sent();
    void give_back(const MessageId& begun);

private:
    std::vector<Recorded> events_;
    const void* owner_ = nullptr;
};

}  // namespace outrider
