#include "outrider/domain_events.h"

#include <algorithm>
#include <utility>

#include "core/event_log.h"

namespace outrider {

Recorded record_now(Message message) {
    Recorded recorded;
    recorded.message = std::move(message);
    if (!recorded.message.id) recorded.message.id = recorded.place;
    return recorded;
}

bool EventLog::track(const void* owner) {
    if (owner_ == nullptr) owner_ = owner;
    return owner_ == owner;
}

void EventLog::sent() {
    events_.clear();
    owner_ = nullptr;
}

void EventLog::give_back(const MessageId& begun) {
    std::erase_if(events_, [&begun](const Recorded& event) {
        return event.place.bytes() > begun.bytes();
    });
    owner_ = nullptr;
}

DomainEvents::DomainEvents() = default;

DomainEvents::~DomainEvents() = default;

const std::shared_ptr<EventLog>& DomainEvents::log() {
    if (!log_) log_ = std::make_shared<EventLog>();
    return log_;
}

DomainEvents::DomainEvents(DomainEvents&& other) noexcept
    : log_(std::exchange(other.log_, nullptr)) {
}

void DomainEvents::record(Message message) {
    EnqueueOptions widest;
    widest.payload_bytes_max = kPayloadBytesCeiling;
    validate(message, widest);
    log()->add(record_now(std::move(message)));
}

std::vector<Message> DomainEvents::recorded() const {
    std::vector<Message> messages;
    if (!log_) return messages;
    for (const Recorded& event : log_->events()) messages.push_back(event.message);
    return messages;
}

}  // namespace outrider
