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

// libpq's open transaction, and which of SOCI's exceptions are worth another try.
class SociSession final : public UnitSession {
public:
    explicit SociSession(std::unique_ptr<UnitSession> session) : session_(std::move(session)) {}

    void commit(std::span<const Message> messages) override { session_->commit(messages); }
    void rollback() noexcept override { session_->rollback(); }
    [[nodiscard]] bool may_repeat(const std::exception& error) const noexcept override {
        const auto* soci = dynamic_cast<const soci::postgresql_soci_error*>(&error);
        if (soci == nullptr) return session_->may_repeat(error);
        return postgres::may_repeat(soci->sqlstate());
    }

private:
    std::unique_ptr<UnitSession> session_;
};

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
    auto opened = std::make_unique<SociSession>(begin_session(handle_of(session), options));
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
