// Units of work on libpq's connections.

#include "outrider/postgres_unit.h"

#include "stores/postgres/caller.h"
#include "stores/postgres/statement.h"

namespace outrider::postgres {
namespace {

const char* begin_text(Isolation isolation) {
    switch (isolation) {
        case Isolation::session_default:
            return "begin";
        case Isolation::read_committed:
            return "begin isolation level read committed";
        case Isolation::repeatable_read:
            return "begin isolation level repeatable read";
        case Isolation::serializable:
            return "begin isolation level serializable";
    }
    return "begin";
}

void require_idle(PGconn* connection) {
    require_plain_mode(connection);
    const PGTransactionStatusType status = PQtransactionStatus(connection);
    if (status == PQTRANS_IDLE) return;
    if (status == PQTRANS_UNKNOWN) throw Failure({Remedy::wait, "the connection is lost"});
    throw Failure(
        {Remedy::correct,
         "a transaction is open on this connection already: units of work do not nest. Hand the "
         "open one to whoever wants to enqueue in it"}
    );
}

void run(PGconn* connection, const char* sql) {
    const Rows done(PQexec(connection, sql));
    if (PQresultStatus(done.get()) == PGRES_COMMAND_OK) return;
    throw Failure(application_error(connection, done.get()));
}

class LibpqSession final : public UnitSession {
public:
    LibpqSession(PGconn* connection, PostgresEnqueueOptions options)
        : connection_(connection),
          options_(std::move(options)) {}

    void commit(std::span<const Message> messages) override {
        require_still_open();
        require_texts(connection_, messages);
        const std::string transaction_id = write(messages);
        const Rows answer(PQexec(connection_, "commit"));
        if (PQresultStatus(answer.get()) == PGRES_COMMAND_OK) return require_committed(answer);
        // An error that came over a connection which still stands was said by the server: it has
        // rolled back. On a connection that is gone, even an error is not the last word.
        const Error error = application_error(connection_, answer.get());
        if (PQstatus(connection_) == CONNECTION_OK) throw Failure(error);
        throw_unanswered(transaction_id, messages, options_, error.text);
    }

    void rollback() noexcept override {
        leave_pipeline(connection_);
        if (PQtransactionStatus(connection_) == PQTRANS_IDLE) return;
        const Rows done(PQexec(connection_, "rollback"));
    }

    [[nodiscard]] bool may_repeat(const std::exception& error) const noexcept override {
        const auto* failure = dynamic_cast<const Failure*>(&error);
        return failure != nullptr && failure->remedy() == Remedy::yield;
    }

private:
    void require_still_open() const {
        require_plain_mode(connection_);
        if (PQtransactionStatus(connection_) == PQTRANS_INERROR) {
            throw Failure(
                {Remedy::correct,
                 "a statement of this transaction failed and its result was not looked at: nothing "
                 "was committed. Pass every result to outrider::postgres::check()"}
            );
        }
        if (PQtransactionStatus(connection_) == PQTRANS_IDLE) {
            throw Failure(
                {Remedy::correct,
                 "the transaction was ended behind the unit's back, and its messages were not "
                 "written: leave COMMIT and ROLLBACK to the unit"}
            );
        }
        require_transaction(connection_);
    }

    // The id that the transaction has; empty if it has written nothing.
    std::string write(std::span<const Message> messages) {
        const auto write = [this](const EnqueueStatement& part) {
            const Rows done = execute(connection_, part);
            if (PQresultStatus(done.get()) == PGRES_COMMAND_OK) return;
            throw Failure(application_error(connection_, done.get()));
        };
        const auto last = write_all_but_last(messages, options_, write);
        const Rows row = execute(connection_, last_statement(last, options_));
        if (PQresultStatus(row.get()) == PGRES_TUPLES_OK) return std::string(row.bytes(0, 0));
        throw Failure(application_error(connection_, row.get()));
    }

    // The answer to COMMIT in a transaction that has failed is a polite ROLLBACK.
    static void require_committed(const Rows& answer) {
        if (std::string_view(PQcmdStatus(answer.get())) == "COMMIT") return;
        throw Failure({Remedy::correct, "the transaction had failed and was rolled back"});
    }

    PGconn* connection_;
    PostgresEnqueueOptions options_;
};

// Without a message there is nothing that tells a commit from that of somebody who got the same
// number after a crash.
std::string question_about(
    const std::string& transaction_id,
    std::span<const Message> messages,
    const PostgresEnqueueOptions& options
) {
    if (messages.empty()) {
        return "select nullif(pg_xact_status('" + transaction_id + "'), 'committed')";
    }
    const std::string id = messages.back().id->to_string();
    return names_of(options).fill("select {schema}.commit_outcome('") + transaction_id + "', '" +
           id + "')";
}

}  // namespace

std::unique_ptr<UnitSession> begin_session(pg_conn* connection, const UnitOptions& options) {
    [[maybe_unused]] const Names checked = names_of(options);
    require_idle(connection);
    auto session = std::make_unique<LibpqSession>(connection, options);
    run(connection, begin_text(options.isolation));
    return session;
}

UnitOfWork<pg_conn> begin(pg_conn* connection, const UnitOptions& options) {
    return {begin_session(connection, options), connection, options};
}

void ClearResult::operator()(pg_result* result) const {
    PQclear(result);
}

ResultPtr check(pg_result* result) {
    ResultPtr owned(result);
    const ExecStatusType status = PQresultStatus(result);
    const bool bad = status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE ||
                     status == PGRES_PIPELINE_ABORTED;
    if (!bad) return owned;
    if (result == nullptr) throw Failure({Remedy::wait, "PostgreSQL: no result; connection lost"});
    throw Failure(application_error(nullptr, result));
}

bool may_repeat(std::string_view sqlstate) noexcept {
    return application_remedy(sqlstate) == Remedy::yield;
}

CommitOutcome outcome_of(std::string_view status) noexcept {
    if (status == "committed") return CommitOutcome::committed;
    if (status == "aborted") return CommitOutcome::rolled_back;
    if (status == "in progress") return CommitOutcome::in_progress;
    return CommitOutcome::unknown;
}

CommitOutcome resolve(pg_conn* connection, const CommitUnknown& unknown) {
    if (unknown.question().empty()) return CommitOutcome::unknown;
    const Rows row = execute(connection, {unknown.question(), {}, {}});
    if (PQresultStatus(row.get()) == PGRES_TUPLES_OK) return outcome_of(row.bytes(0, 0));
    const char* state = PQresultErrorField(row.get(), PG_DIAG_SQLSTATE);
    if (state != nullptr && is_unknowable(state)) return CommitOutcome::unknown;
    throw Failure(application_error(connection, row.get()));
}

// A server that has never come to this number, or has no such log (or an older one), is not the one
// that was asked to commit.
bool is_unknowable(std::string_view sqlstate) noexcept {
    return sqlstate == "22023" || sqlstate == "42883" || sqlstate == "3F000";
}

void throw_unanswered(
    const std::string& transaction_id,
    std::span<const Message> messages,
    const PostgresEnqueueOptions& options,
    const std::string& reason
) {
    if (transaction_id.empty()) {
        throw Failure(
            {Remedy::wait,
             "the connection was lost; the transaction had written nothing. " + reason}
        );
    }
    const std::string question = question_about(transaction_id, messages, options);
    throw CommitUnknown(
        {Remedy::call,
         "the commit of transaction " + transaction_id +
             " was not answered: it happened, or it did not. Connect anew and ask "
             "outrider::resolve(), or the server: " +
             question + ". " + reason},
        transaction_id,
        question
    );
}

}  // namespace outrider::postgres
