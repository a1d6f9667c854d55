#pragma once

#include <cstdint>
#include <memory>

#include "outrider/postgres.h"
#include "outrider/transactional.h"
#include "outrider/unit_of_work.h"

struct pg_result;  // libpq's PGresult

// Units of work on libpq's connections.
namespace outrider::postgres {

// How a transaction sees others. PostgreSQL's words.
enum class Isolation : std::uint8_t {
    session_default,  // what the session is set to, normally read committed
    read_committed,
    repeatable_read,
    serializable,
};

struct UnitOptions : PostgresEnqueueOptions {
    Isolation isolation = Isolation::session_default;
    Repeat repeat;  // of transactional()
};

// Begins a transaction on the connection, in one round trip. The commit takes two: one writes all
// messages and learns the transaction's id, one commits.
//
// Throws Failure: Remedy::correct if a transaction is open on this connection already (units do not
// nest: hand the open one down instead) or it is in pipeline mode; Remedy::wait if it is lost.
[[nodiscard]] UnitOfWork<pg_conn> begin(pg_conn* connection, const UnitOptions& options = {});

// Begins, runs, commits; again on serialization failure and deadlock. See transactional.h.
//
//     outrider::transactional(connection, [&](auto& tx) {
//         outrider::postgres::check(PQexec(tx.handle(), "update account set ..."));
//         tx.enqueue(message);
//     });
//
// libpq reports errors by return value, so nothing but your own code can tell what went wrong: pass
// every result to check(), or name your own exceptions in `options.repeat.also`.
template <class Work>
auto transactional(pg_conn* connection, const Work& work, const UnitOptions& options = {}) {
    return run_transactional(
        options.repeat, [&] { return begin(connection, options); }, work
    );
}

// Owns a result.
struct ClearResult {
    void operator()(pg_result* result) const;
};
using ResultPtr = std::unique_ptr<pg_result, ClearResult>;

// Takes the result of a statement, and gives it back if the statement went well. Throws Failure
// with the server's words otherwise: Remedy::yield for what transactional() runs again.
ResultPtr check(pg_result* result);

// What became of a transaction whose commit was not answered. `connection` is a new one to the same
// server. Throws Failure if that cannot be asked. A transaction is known by the first message of
// its unit, for as long as the log keeps that: without a message, or behind a relay that keeps none
// (relay.retention), a commit that happened is `unknown`.
//
//     } catch (const outrider::CommitUnknown& unknown) {
//         PQreset(connection);
//         if (outrider::resolve(connection, unknown) == outrider::CommitOutcome::rolled_back)
//         again();
//     }
[[nodiscard]] CommitOutcome resolve(pg_conn* connection, const CommitUnknown& unknown);

// The open transaction of a connection, for other libraries that are built on libpq. The rules of
// begin().
[[nodiscard]] std::unique_ptr<UnitSession> begin_session(
    pg_conn* connection,
    const UnitOptions& options
);

// Whether an SQLSTATE says that running the transaction again may help.
[[nodiscard]] bool may_repeat(std::string_view sqlstate) noexcept;

// What the question of a CommitUnknown was answered with.
[[nodiscard]] CommitOutcome outcome_of(std::string_view status) noexcept;

// Whether an SQLSTATE that the question was answered with means that this server cannot know.
[[nodiscard]] bool is_unknowable(std::string_view sqlstate) noexcept;

// The error for a commit of these messages that was sent and not answered: CommitUnknown, or
// Failure (wait) where the transaction had written nothing and so has no id.
[[noreturn]] void throw_unanswered(
    const std::string& transaction_id,
    std::span<const Message> messages,
    const PostgresEnqueueOptions& options,
    const std::string& reason
);

}  // namespace outrider::postgres

namespace outrider {
using postgres::begin;
using postgres::resolve;
using postgres::transactional;
}  // namespace outrider
