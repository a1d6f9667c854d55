#include "outrider/testing.h"

#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "outrider/error.h"

#include "stores/memory/database.h"

namespace outrider::testing {

// Which faults are still to come, and how transactions ended. Safe from any thread.
class MemoryStore::Ledger {
public:
    void plan(const std::vector<CommitFault>& faults) {
        const std::lock_guard lock(mutex_);
        faults_.insert(faults_.end(), faults.begin(), faults.end());
    }

    CommitFault next_fault() {
        const std::lock_guard lock(mutex_);
        if (faults_.empty()) return CommitFault::none;
        const CommitFault fault = faults_.front();
        faults_.pop_front();
        return fault;
    }

    // The name of a transaction whose end nobody was told.
    std::string note(CommitOutcome outcome) {
        const std::lock_guard lock(mutex_);
        std::string name = std::to_string(outcomes_.size() + 1);
        outcomes_[name] = outcome;
        return name;
    }

    CommitOutcome find(const std::string& name) {
        const std::lock_guard lock(mutex_);
        const auto found = outcomes_.find(name);
        return found == outcomes_.end() ? CommitOutcome::unknown : found->second;
    }

private:
    std::mutex mutex_;
    std::deque<CommitFault> faults_;
    std::map<std::string, CommitOutcome> outcomes_;
};

namespace {

class MemorySession final : public UnitSession {
public:
    MemorySession(
        std::shared_ptr<MemoryDatabase> database,
        std::shared_ptr<MemoryStore::Ledger> ledger
    )
        : database_(std::move(database)),
          ledger_(std::move(ledger)) {}

    void commit(std::span<const Message> messages) override {
        switch (ledger_->next_fault()) {
            case CommitFault::none:
                return write(messages);
            case CommitFault::conflict:
                throw Failure({Remedy::yield, "it met another transaction, as the test asked"});
            case CommitFault::refuse:
                throw Failure({Remedy::correct, "the commit was refused, as the test asked"});
            case CommitFault::lose_question:
                lose(CommitOutcome::rolled_back);
            case CommitFault::lose_answer:
                write(messages);
                lose(CommitOutcome::committed);
        }
    }

    void rollback() noexcept override {}

    [[nodiscard]] bool may_repeat(const std::exception& error) const noexcept override {
        const auto* failure = dynamic_cast<const Failure*>(&error);
        return failure != nullptr && failure->remedy() == Remedy::yield;
    }

private:
    void write(std::span<const Message> messages) {
        if (!messages.empty()) database_->commit({messages.begin(), messages.end()});
    }

    [[noreturn]] void lose(CommitOutcome outcome) {
        throw CommitUnknown(
            {Remedy::call, "the commit was not answered, as the test asked"}, ledger_->note(outcome)
        );
    }

    std::shared_ptr<MemoryDatabase> database_;
    std::shared_ptr<MemoryStore::Ledger> ledger_;
};

}  // namespace

void MemoryStore::fail_commits(const std::vector<CommitFault>& faults) {
    ledger_->plan(faults);
}

std::unique_ptr<UnitSession> MemoryStore::begin_session() {
    return std::make_unique<MemorySession>(database_, ledger_);
}

CommitOutcome MemoryStore::resolve(const CommitUnknown& unknown) const {
    return ledger_->find(unknown.transaction_id());
}

MemoryStore::MemoryStore(std::size_t lanes)
    : database_(std::make_shared<MemoryDatabase>(
          MemoryDatabase::Options{.lanes = lanes, .lanes_per_claim = 0},
          std::make_shared<SystemClock>()
      )),
      ledger_(std::make_shared<Ledger>()) {
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
