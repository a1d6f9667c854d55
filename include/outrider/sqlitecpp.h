#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "outrider/sqlite.h"
#include "outrider/sqlite_unit.h"

// For applications with SQLiteCpp. Header-only: link outrider::sqlite and your SQLiteCpp. The same
// three styles, with the database object in the place of the handle:
//
//     SQLite::Transaction transaction(database);
//     database.exec("insert into orders ...");
//     outrider::enqueue(database, message);
//     transaction.commit();
//
//     auto unit = outrider::begin(database);        // unit-> and *unit are the SQLite::Database
//     unit->exec("insert into orders ...");
//     unit.enqueue(message);
//     unit.commit();
//
//     outrider::transactional(database, [&](auto& tx) { tx->exec("..."); tx.enqueue(message); });
//
// What each of them promises and throws is written in sqlite.h and sqlite_unit.h. The tables come
// from outrider::sqlite::migrate(database.getHandle()).
namespace outrider {

inline MessageId enqueue(
    SQLite::Database& database,
    const Message& message,
    const EnqueueOptions& options = {}
) {
    return sqlite::enqueue(database.getHandle(), message, options);
}

inline std::vector<MessageId> enqueue(
    SQLite::Database& database,
    std::span<const Message> messages,
    const EnqueueOptions& options = {}
) {
    return sqlite::enqueue(database.getHandle(), messages, options);
}

template <Event E>
MessageId enqueue(SQLite::Database& database, const E& event, const EnqueueOptions& options = {}) {
    return enqueue(database, to_message(event), options);
}

// SQLite's open transaction, and which of SQLiteCpp's exceptions are worth another try.
class SqliteCppSession final : public UnitSession {
public:
    explicit SqliteCppSession(std::unique_ptr<UnitSession> session)
        : session_(std::move(session)) {}

    void commit(std::span<const Message> messages) override { session_->commit(messages); }
    void rollback() noexcept override { session_->rollback(); }
    [[nodiscard]] bool may_repeat(const std::exception& error) const noexcept override {
        const auto* known = dynamic_cast<const SQLite::Exception*>(&error);
        if (known != nullptr && sqlite::may_repeat(known->getErrorCode())) return true;
        return session_->may_repeat(error);
    }

private:
    std::unique_ptr<UnitSession> session_;
};

[[nodiscard]] inline UnitOfWork<SQLite::Database> begin(
    SQLite::Database& database,
    const sqlite::UnitOptions& options = {}
) {
    auto session = sqlite::begin_session(database.getHandle(), options);
    return {std::make_unique<SqliteCppSession>(std::move(session)), &database, options};
}

template <class Work>
auto transactional(
    SQLite::Database& database,
    const Work& work,
    const sqlite::UnitOptions& options = {}
) {
    return run_transactional(
        options.repeat, [&] { return begin(database, options); }, work
    );
}

}  // namespace outrider
