#pragma once

#include <cstdint>
#include <memory>

#include "outrider/sqlite.h"
#include "outrider/transactional.h"
#include "outrider/unit_of_work.h"

// Units of work on SQLite's connections.
namespace outrider::sqlite {

// When a transaction takes SQLite's one write lock.
enum class Lock : std::uint8_t {
    at_begin,  // BEGIN IMMEDIATE (default): waits its turn by the busy timeout, then never fails
    at_first_write,  // BEGIN: readers need no lock, but a write after a read may find the database
                     // changed and must then be run again, which transactional() does
};

struct UnitOptions : EnqueueOptions {
    Lock lock = Lock::at_begin;
    Repeat repeat;  // of transactional()
};

// Begins a transaction on the connection.
//
// Throws Failure: Remedy::correct if a transaction is open on this connection already (units do not
// nest: hand the open one down instead); Remedy::yield if the database is busy for longer than the
// connection's busy timeout.
[[nodiscard]] UnitOfWork<sqlite3> begin(sqlite3* database, const UnitOptions& options = {});

// Begins, runs, commits; again while the database is busy. See transactional.h.
//
//     outrider::transactional(database, [&](auto& tx) {
//         run(tx.handle(), "update account set ...");   // throws what you like when it fails
//         tx.enqueue(message);
//     });
//
// Your own exceptions carry no result code that could be read, so the connection is asked how its
// last call ended. That is forgotten where a statement is finalized on the way out of `work`, as a
// select does that is still alive there: then name your exceptions in `options.repeat.also`, say by
// the code that they carry and may_repeat(). With Lock::at_begin, the default, no such work fails.
template <class Work>
auto transactional(sqlite3* database, const Work& work, const UnitOptions& options = {}) {
    return run_transactional(
        options.repeat, [&] { return begin(database, options); }, work
    );
}

// Whether a result code, extended or not, says that running the transaction again may help.
[[nodiscard]] bool may_repeat(int result_code) noexcept;

// The open transaction of a connection, for libraries that are built on SQLite. The rules of
// begin().
[[nodiscard]] std::unique_ptr<UnitSession> begin_session(
    sqlite3* database,
    const UnitOptions& options
);

}  // namespace outrider::sqlite

namespace outrider {
using sqlite::begin;
using sqlite::transactional;
}  // namespace outrider
