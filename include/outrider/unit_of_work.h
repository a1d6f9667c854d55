#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "outrider/domain_events.h"
#include "outrider/error.h"
#include "outrider/event.h"
#include "outrider/message.h"

namespace outrider {

// What a transaction needs of a client library: the open transaction itself. There is one for each
// library; you write one only for a library that Outrider does not know. It is created when the
// transaction has begun, and is used by one thread.
class UnitSession {
public:
    virtual ~UnitSession() = default;

    // Writes the messages, each of which has its id, and commits. Throws CommitUnknown if the
    // answer to the commit was lost, Failure if nothing was committed.
    virtual void commit(std::span<const Message> messages) = 0;

    // Ends the transaction without effect. Called once, unless commit() returned or threw
    // CommitUnknown.
    virtual void rollback() noexcept = 0;

    // Whether the same work may well succeed in a fresh transaction: a serialization failure, a
    // deadlock, a busy database. Asked before the rollback.
    [[nodiscard]] virtual bool may_repeat(const std::exception& error) const noexcept = 0;
};

// The same open transaction for a library that lies on top of another one and throws exceptions of
// its own: `is_worth_repeating` knows those.
class LayeredSession final : public UnitSession {
public:
    using Judge = bool (*)(const std::exception& error);

    LayeredSession(std::unique_ptr<UnitSession> below, Judge is_worth_repeating)
        : below_(std::move(below)),
          is_worth_repeating_(is_worth_repeating) {}

    void commit(std::span<const Message> messages) override { below_->commit(messages); }
    void rollback() noexcept override { below_->rollback(); }
    [[nodiscard]] bool may_repeat(const std::exception& error) const noexcept override {
        return is_worth_repeating_(error) || below_->may_repeat(error);
    }

private:
    std::unique_ptr<UnitSession> below_;
    Judge is_worth_repeating_;
};

// An open transaction, as functions that enqueue want it:
//
//     void place(const Order& order, outrider::Transaction& tx) { tx.enqueue(OrderPlaced{order}); }
//
// You get one from begin() or transactional(). It writes its messages at the commit, in one go, so
// that whatever they lock is locked for the shortest time. One thread at a time.
//
// So messages belong to the transaction and to no savepoint in it: what was enqueued or recorded
// before a `rollback to savepoint` is written all the same. Where a part may be given up alone, let
// it use a transaction of its own, or enqueue(connection, message), which writes at once.
//
// Every use of a transaction that is over, or was moved from, throws Failure (correct).
class Transaction {
public:
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    Transaction& operator=(Transaction&&) = delete;

    // Promises to write the message at the commit, and returns the id that it will have. Throws
    // Failure (correct) at once if the message breaks a limit.
    MessageId enqueue(Message message);

    // The same for an event of your own type; see event.h.
    template <Event E>
    MessageId enqueue(const E& event) {
        return enqueue(to_message(event));
    }

    // Carries the events of an entity, those recorded so far and those still to come; see
    // domain_events.h. Throws Failure (correct) if another transaction tracks it.
    void track(DomainEvents& entity);

    // What would be written if it were committed now, in order.
    [[nodiscard]] std::vector<Message> pending() const;

    [[nodiscard]] bool is_open() const noexcept;

    // For transactional(): whether the work that threw may succeed in a fresh transaction.
    [[nodiscard]] bool may_repeat(const std::exception& error) const noexcept;

protected:
    Transaction(std::unique_ptr<UnitSession> session, const EnqueueOptions& options);
    Transaction(Transaction&& other) noexcept;
    ~Transaction();  // rolls back what is open

    void commit_now();
    void rollback_now() noexcept;
    void require_open() const;

private:
    class State;
    std::unique_ptr<State> state_;  // null: moved from
};

// The same with the handle on which your own statements run in it: libpq's and SQLite's connection,
// pqxx::work, SQLite::Database, soci::session.
template <class Handle>
class TransactionOn : public Transaction {
public:
    TransactionOn(const TransactionOn&) = delete;
    TransactionOn& operator=(const TransactionOn&) = delete;
    TransactionOn& operator=(TransactionOn&&) = delete;

    // Throws Failure (correct) when the transaction is over: nothing slips out behind a commit.
    [[nodiscard]] Handle* handle() const {
        require_open();
        return handle_;
    }
    Handle& operator*() const { return *handle(); }
    Handle* operator->() const { return handle(); }

protected:
    TransactionOn(
        std::unique_ptr<UnitSession> session,
        Handle* handle,
        const EnqueueOptions& options
    )
        : Transaction(std::move(session), options),
          handle_(handle) {}
    TransactionOn(TransactionOn&&) noexcept = default;
    ~TransactionOn() = default;

private:
    Handle* handle_;
};

// A transaction of your own making:
//
//     auto unit = outrider::begin(connection);
//     run(unit.handle(), "insert into orders ...");
//     unit.enqueue(message);
//     unit.commit();       // the order and its message; without this line, neither
//
// Can be moved, not copied. The connection must outlive it, and must not be used for another
// transaction meanwhile: begin() refuses where one is open.
template <class Handle>
class UnitOfWork final : public TransactionOn<Handle> {
public:
    using HandleType = Handle;

    UnitOfWork(std::unique_ptr<UnitSession> session, Handle* handle, const EnqueueOptions& options)
        : TransactionOn<Handle>(std::move(session), handle, options) {}
    UnitOfWork(UnitOfWork&&) noexcept = default;
    UnitOfWork(const UnitOfWork&) = delete;
    UnitOfWork& operator=(const UnitOfWork&) = delete;
    UnitOfWork& operator=(UnitOfWork&&) = delete;
    ~UnitOfWork() = default;  // rolls back, unless it is over

    // Writes the messages and commits. When it returns, all of it is in the database. Throws
    // CommitUnknown if nobody can say (see there); any other exception means that everything was
    // rolled back. Either way the unit is over.
    void commit() { this->commit_now(); }

    // Ends it without effect. Fine when it is over already.
    void rollback() noexcept { this->rollback_now(); }
};

// The explicit style on a unit: the same as tx.enqueue(message).
inline MessageId enqueue(Transaction& tx, Message message) {
    return tx.enqueue(std::move(message));
}
template <Event E>
MessageId enqueue(Transaction& tx, const E& event) {
    return tx.enqueue(event);
}

// What became of a transaction whose commit was not answered.
enum class CommitOutcome : std::uint8_t {
    committed,
    rolled_back,
    in_progress,  // the server is still at it: ask again
    unknown,      // nobody can say: another server, too long ago, or nothing to know it by
};

// The commit was sent and its answer never came: the transaction happened, or it did not. Do not
// simply run it again. Connect anew and ask resolve() (postgres_unit.h); if it says rolled_back,
// running it again is safe.
class CommitUnknown : public Failure {
public:
    CommitUnknown(Error error, std::string transaction_id, std::string question = {})
        : Failure(std::move(error)),
          transaction_id_(std::move(transaction_id)),
          question_(std::move(question)) {}

    // What the database calls the transaction. Empty where it has no such name (SQLite).
    [[nodiscard]] const std::string& transaction_id() const noexcept { return transaction_id_; }

    // The statement that resolve() runs. Empty where there is none.
    [[nodiscard]] const std::string& question() const noexcept { return question_; }

private:
    std::string transaction_id_;
    std::string question_;
};

}  // namespace outrider
