#pragma once

#include <memory>
#include <vector>

#include "outrider/event.h"
#include "outrider/message.h"

namespace outrider {

class EventLog;  // what recorder and transaction share

// The events that an entity has recorded and nobody has sent yet. A base or a member of the entity:
//
//     class Order : public outrider::DomainEvents {
//     public:
//         void pay() {
//             paid_ = true;
//             record(OrderPaid{id_});
//         }
//     };
//
//     order.pay();
//     tx.track(order);   // the transaction carries the order's events, earlier or later ones
//
// A commit enqueues them together with the rows, in the order in which they were recorded (across
// all tracked entities and what was enqueued directly), and takes them out: they are sent once. A
// rollback sends nothing and leaves the entity with the events it had when the transaction began,
// so that running it again neither loses nor doubles any.
//
// Events survive their entity: it may be destroyed before the commit. An entity can be moved into a
// new one, but neither copied nor assigned: nobody could say which of the two has the events, or
// what becomes of those that were there. One thread at a time.
class DomainEvents {
public:
    DomainEvents();
    ~DomainEvents();
    DomainEvents(const DomainEvents&) = delete;
    DomainEvents& operator=(const DomainEvents&) = delete;

    DomainEvents& operator=(DomainEvents&&) = delete;

    // Takes the events, and the tracking with them; `other` has none left and may be used again.
    DomainEvents(DomainEvents&& other) noexcept;

    // Throws Failure (correct) if the message could never be written.
    void record(Message message);
    template <Event E>
    void record(const E& event) {
        record(to_message(event));
    }

    // What has been recorded and not been sent, in order.
    [[nodiscard]] std::vector<Message> recorded() const;

private:
    friend class Transaction;
    const std::shared_ptr<EventLog>& log();
    std::shared_ptr<EventLog> log_;  // null: nothing was ever recorded
};

}  // namespace outrider
