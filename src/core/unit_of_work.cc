#include "outrider/unit_of_work.h"

#include <algorithm>

#include "core/event_log.h"

namespace outrider {
namespace {

enum class Phase : std::uint8_t { open, committed, rolled_back, unknown };

std::string_view sentence(Phase phase) {
    switch (phase) {
        case Phase::open:
            return "it is open";
        case Phase::committed:
            return "it was committed";
        case Phase::rolled_back:
            return "it was rolled back";
        case Phase::unknown:
            return "its commit was not answered";
    }
    return "";
}

}  // namespace

class Transaction::State {
public:
    State(std::unique_ptr<UnitSession> session, const EnqueueOptions& options)
        : session_(std::move(session)),
          options_(options) {}
    ~State() { rollback(); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    [[nodiscard]] Phase phase() const { return phase_; }
    [[nodiscard]] const UnitSession& session() const { return *session_; }

    MessageId enqueue(Message message) {
        validate(message, options_);
        own_.push_back(record_now(std::move(message)));
        return *own_.back().message.id;
    }

    void track(std::shared_ptr<EventLog> log) {
        if (!log->track(this)) {
            throw Failure(
                {Remedy::correct,
                 "the entity is tracked by another open transaction: its events can be sent by one "
                 "only"}
            );
        }
        if (std::find(logs_.begin(), logs_.end(), log) == logs_.end()) {
            logs_.push_back(std::move(log));
        }
    }

    // Everything in the order in which it happened, wherever it was recorded.
    [[nodiscard]] std::vector<Message> pending() const {
        std::vector<const Recorded*> all;
        for (const Recorded& recorded : own_) all.push_back(&recorded);
        for (const auto& log : logs_) {
            for (const Recorded& recorded : log->events()) all.push_back(&recorded);
        }
        std::sort(all.begin(), all.end(), [](const Recorded* left, const Recorded* right) {
            return left->place.bytes() < right->place.bytes();
        });
        std::vector<Message> messages;
        messages.reserve(all.size());
        for (const Recorded* recorded : all) messages.push_back(recorded->message);
        return messages;
    }

    void commit() {
        bool wrote = false;
        try {
            const std::vector<Message> messages = pending();
            wrote = !messages.empty();
            for (const Message& message : messages) validate(message, options_);
            session_->commit(messages);
        } catch (const CommitUnknown&) {
            end(Phase::unknown);
            throw;
        } catch (...) {
            rollback();
            throw;
        }
        end(Phase::committed);
        if (wrote) tell();
    }

    void rollback() noexcept {
        if (phase_ != Phase::open) return;
        session_->rollback();
        end(Phase::rolled_back);
    }

private:
    // It is only a hint: whoever hears an exception here would take the commit for failed.
    void tell() const noexcept {
        try {
            if (options_.committed) options_.committed();
        } catch (...) {
        }
    }

    // Unknown counts as not sent: the events are lost by nobody, and whoever sends them again sends
    // the same ids.
    void end(Phase phase) noexcept {
        phase_ = phase;
        for (const auto& log : logs_) {
            if (phase == Phase::committed) {
                log->sent();
            } else {
                log->give_back(begun_);
            }
        }
        logs_.clear();
        own_.clear();
    }

    std::unique_ptr<UnitSession> session_;
    EnqueueOptions options_;
    const MessageId begun_ = MessageId::generate();  // its place among all that is recorded
    std::vector<Recorded> own_;
    std::vector<std::shared_ptr<EventLog>> logs_;
    Phase phase_ = Phase::open;
};

Transaction::Transaction(std::unique_ptr<UnitSession> session, const EnqueueOptions& options)
    : state_(std::make_unique<State>(std::move(session), options)) {
}

Transaction::Transaction(Transaction&& other) noexcept = default;

Transaction::~Transaction() = default;

void Transaction::require_open() const {
    if (!state_) {
        throw Failure(
            {Remedy::correct,
             "this transaction was moved from: use the object that it was moved to"}
        );
    }
    if (state_->phase() == Phase::open) return;
    throw Failure(
        {Remedy::correct,
         "this transaction is over, " + std::string(sentence(state_->phase())) +
             ": begin another one"}
    );
}

MessageId Transaction::enqueue(Message message) {
    require_open();
    return state_->enqueue(std::move(message));
}

void Transaction::track(DomainEvents& entity) {
    require_open();
    state_->track(entity.log());
}

std::vector<Message> Transaction::pending() const {
    require_open();
    return state_->pending();
}

bool Transaction::is_open() const noexcept {
    return state_ && state_->phase() == Phase::open;
}

bool Transaction::may_repeat(const std::exception& error) const noexcept {
    return state_ && state_->session().may_repeat(error);
}

void Transaction::commit_now() {
    require_open();
    state_->commit();
}

void Transaction::rollback_now() noexcept {
    if (state_) state_->rollback();
}

}  // namespace outrider
