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

// Which of SQLiteCpp's exceptions are worth another try.
[[nodiscard]] inline bool is_worth_repeating(const std::exception& error) {
    const auto* known = dynamic_cast<const SQLite::Exception*>(&error);
    return known != nullptr && sqlite::may_repeat(known->getErrorCode());
}

[[nodiscard]] inline UnitOfWork<SQLite::Database> begin(
    SQLite::Database& database,
    const sqlite::UnitOptions& options = {}
) {
    auto below = sqlite::begin_session(database.getHandle(), options);
    auto opened = std::make_unique<LayeredSession>(std::move(below), &is_worth_repeating);
    return {std::move(opened), &database, options};
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
