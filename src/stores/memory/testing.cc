#include "outrider/testing.h"

#include <utility>

#include "outrider/error.h"

#include "stores/memory/database.h"

namespace outrider::testing {

MemoryStore::MemoryStore(std::size_t lanes)
    : database_(std::make_shared<MemoryDatabase>(
          MemoryDatabase::Options{.lanes = lanes, .lanes_per_claim = 0},
          std::make_shared<SystemClock>()
      )) {
}

std::shared_ptr<StoreDriver> MemoryStore::driver() const {
    return database_;
}

MemoryStore::Transaction::Transaction(std::shared_ptr<MemoryDatabase> database)
    : database_(std::move(database)) {
}

MessageId MemoryStore::Transaction::enqueue(Message message) {
    if (!database_) {
        throw Failure({Remedy::correct, "this transaction is over: begin another for the message"});
    }
    validate(message);
    if (!message.id) message.id = MessageId::generate();
    messages_.push_back(std::move(message));
    return *messages_.back().id;
}

void MemoryStore::Transaction::commit() {
    if (!database_) throw Failure({Remedy::correct, "this transaction is over already"});
    std::exchange(database_, nullptr)->commit(std::move(messages_));
}

}  // namespace outrider::testing
