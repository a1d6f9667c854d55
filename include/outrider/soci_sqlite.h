#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <soci/soci.h>
#include <soci/sqlite3/soci-sqlite3.h>

#include "outrider/error.h"
#include "outrider/sqlite.h"
#include "outrider/sqlite_unit.h"

// For applications with SOCI on SQLite. Header-only: link outrider::sqlite, soci_core and
// soci_sqlite3. The same three styles, with the session in the place of the handle:
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
// What each of them promises and throws is written in sqlite.h and sqlite_unit.h; a session of
// another database is refused with Failure (correct). In a file that also includes soci_postgres.h,
// say outrider::sqlite:: or outrider::postgres:: instead of outrider::. SOCI includes <sqlite3.h>
// into a namespace of its own, so a file with this header cannot include that one before it.
namespace outrider::sqlite {

// The connection below the session. (By name and not by dynamic_cast, and unseen by a sanitizer
// that looks at types: SOCI's library keeps those of its backends to itself.)
[[nodiscard]] __attribute__((no_sanitize("vptr"))) inline sqlite3* handle_of(soci::session& session
) {
    soci::details::session_backend* backend = session.get_backend();
    if (backend != nullptr && backend->get_backend_name() == "sqlite3") {
        return reinterpret_cast<sqlite3*>(
            static_cast<soci::sqlite3_session_backend*>(backend)->conn_
        );
    }
    throw Failure({Remedy::correct, "this SOCI session is not connected to a SQLite database"});
}

// Which of SOCI's exceptions are worth another try.
[[nodiscard]] inline bool is_worth_repeating(const std::exception& error) {
    const auto* known = dynamic_cast<const soci::sqlite3_soci_error*>(&error);
    return known != nullptr && may_repeat(known->result());
}

inline MessageId enqueue(
    soci::session& session,
    const Message& message,
    const EnqueueOptions& options = {}
) {
    return enqueue(handle_of(session), message, options);
}

inline std::vector<MessageId> enqueue(
    soci::session& session,
    std::span<const Message> messages,
    const EnqueueOptions& options = {}
) {
    return enqueue(handle_of(session), messages, options);
}

template <Event E>
MessageId enqueue(soci::session& session, const E& event, const EnqueueOptions& options = {}) {
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

}  // namespace outrider::sqlite

namespace outrider {
using sqlite::begin;
using sqlite::enqueue;
using sqlite::transactional;
}  // namespace outrider
