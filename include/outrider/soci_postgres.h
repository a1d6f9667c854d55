#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <soci/postgresql/soci-postgresql.h>
#include <soci/soci.h>

#include "outrider/error.h"
#include "outrider/postgres.h"
#include "outrider/postgres_unit.h"

// For applications with SOCI on PostgreSQL. Header-only: link outrider::postgres, soci_core and
// soci_postgresql. The same three styles, with the session in the place of the handle:
//
//     soci::transaction transaction(session);
//     session << "insert into orders ...";
//     outrider::enqueue(session, message);
//     transaction.commit();
//
//     auto unit = outrider::begin(session);         // *unit is the soci::session
//     *unit << "insert into orders ...";
//     unit.enqueue(message);
//     unit.commit();
//
//     outrider::transactional(session, [&](auto& tx) { *tx << "..."; tx.enqueue(message); });
//
// What each of them promises and throws is written in postgres.h and postgres_unit.h; a session of
// another database is refused with Failure (correct). In a file that also includes soci_sqlite.h,
// say outrider::sqlite:: or outrider::postgres:: instead of outrider::.
namespace outrider::postgres {

// The connection below the session. (By name and not by dynamic_cast, and unseen by a sanitizer
// that looks at types: SOCI's library keeps those of its backends to itself.)
[[nodiscard]] __attribute__((no_sanitize("vptr"))) inline pg_conn* handle_of(soci::session& session
) {
    soci::details::session_backend* backend = session.get_backend();
    if (backend != nullptr && backend->get_backend_name() == "postgresql") {
        return static_cast<soci::postgresql_session_backend*>(backend)->conn_;
    }
    throw Failure({Remedy::correct, "this SOCI session is not connected to a PostgreSQL database"});
}

// Which of SOCI's exceptions are worth another try.
[[nodiscard]] inline bool is_worth_repeating(const std::exception& error) {
    const auto* known = dynamic_cast<const soci::postgresql_soci_error*>(&error);
    return known != nullptr && may_repeat(known->sqlstate());
}

inline MessageId enqueue(
    soci::session& session,
    const Message& message,
    const PostgresEnqueueOptions& options = {}
) {
    return enqueue(handle_of(session), message, options);
}

inline std::vector<MessageId> enqueue(
    soci::session& session,
    std::span<const Message> messages,
    const PostgresEnqueueOptions& options = {}
) {
    return enqueue(handle_of(session), messages, options);
}

template <Event E>
MessageId enqueue(
    soci::session& session,
    const E& event,
    const PostgresEnqueueOptions& options = {}
) {
    return enqueue(session, to_message(event), options);
}

[[nodiscard]] inline UnitOfWork<soci::session> begin(
    soci::session& session,
    const UnitOptions& options = {}
) {
    auto below = begin_session(handle_of(session), options);
    auto opened = std::make_unique<LayeredSession>(std::move(below), &is_worth_repeating);
    return {std::move(opened), &session, options};
}

template <class Work>
auto transactional(soci::session& session, const Work& work, const UnitOptions& options = {}) {
    return run_transactional(
        options.repeat, [&] { return begin(session, options); }, work
    );
}

// What became of a transaction whose commit was not answered; `session` is a new one.
[[nodiscard]] inline CommitOutcome resolve(soci::session& session, const CommitUnknown& unknown) {
    return resolve(handle_of(session), unknown);
}

}  // namespace outrider::postgres

namespace outrider {
using postgres::begin;
using postgres::enqueue;
using postgres::resolve;
using postgres::transactional;
}  // namespace outrider
