#include "core/broker.h"

#include <condition_variable>
#include <mutex>

#include "outrider/testing.h"

#include "core/clock.h"

namespace outrider::testing {

class MemoryBroker::Shelf {
public:
    void put(std::span<const Envelope> envelopes) {
        {
            const std::lock_guard lock(mutex_);
            for (const Envelope& envelope : envelopes) received_.push_back(copy(envelope));
        }
        arrived_.notify_all();
    }

    std::vector<Received> all() const {
        const std::lock_guard lock(mutex_);
        return received_;
    }

    bool wait_for(std::size_t count, Duration patience) const {
        std::unique_lock lock(mutex_);
        return arrived_.wait_for(lock, patience, [&] { return received_.size() >= count; });
    }

private:
    static Received copy(const Envelope& envelope) {
        Received received{
            envelope.id,
            std::string(envelope.topic),
            std::string(envelope.key),
            std::string(envelope.type),
            std::string(envelope.content_type),
            std::string(envelope.payload),
            {},
        };
        for (const HeaderView& header : envelope.headers) {
            received.headers.push_back({std::string(header.name), std::string(header.value)});
        }
        return received;
    }

    mutable std::mutex mutex_;
    mutable std::condition_variable arrived_;
    std::vector<Received> received_;
};

namespace {

class Connection final : public Broker {
public:
    explicit Connection(std::shared_ptr<MemoryBroker::Shelf> shelf) : shelf_(std::move(shelf)) {}

    [[nodiscard]] BrokerTraits traits() const override {
        return {.keeps_order = true, .keeps_global_order = true};
    }

    void publish(
        std::span<const Envelope> envelopes,
        Deadline /*deadline*/,
        std::span<Answer> answers
    ) override {
        shelf_->put(envelopes);
        for (Answer& answer : answers) answer.verdict = Verdict::acknowledged;
    }

    [[nodiscard]] Result<void> ping(Deadline /*deadline*/) override { return {}; }

private:
    std::shared_ptr<MemoryBroker::Shelf> shelf_;
};

class Driver final : public BrokerDriver {
public:
    explicit Driver(std::shared_ptr<MemoryBroker::Shelf> shelf) : shelf_(std::move(shelf)) {}

    [[nodiscard]] Result<std::unique_ptr<Broker>> open() override {
        return std::unique_ptr<Broker>(std::make_unique<Connection>(shelf_));
    }

private:
    std::shared_ptr<MemoryBroker::Shelf> shelf_;
};

}  // namespace

MemoryBroker::MemoryBroker() : shelf_(std::make_shared<Shelf>()) {
}

std::vector<Received> MemoryBroker::received() const {
    return shelf_->all();
}

bool MemoryBroker::wait_for(std::size_t count, Duration patience) const {
    return shelf_->wait_for(count, patience);
}

std::shared_ptr<BrokerDriver> MemoryBroker::driver() const {
    return std::make_shared<Driver>(shelf_);
}

}  // namespace outrider::testing
