#pragma once

#include "core/result.h"
#include "stores/sqlite/connection.h"

// What enqueue and inbox do on a connection that belongs to the caller. All throw Failure.
namespace outrider::sqlite {

// Refuses (correct) a connection without an open transaction.
void require_transaction(sqlite3* database);

// Throws the error. Where our tables are missing, it says what to do.
[[noreturn]] void fail_caller(Error error);

[[nodiscard]] Statement prepare_for_caller(sqlite3* database, std::string_view sql);

// All or none, inside a transaction that belongs to somebody else: what was written since is undone
// unless it is kept.
class Savepoint {
public:
    explicit Savepoint(sqlite3* database);
    ~Savepoint();
    Savepoint(const Savepoint&) = delete;
    Savepoint& operator=(const Savepoint&) = delete;

    void keep() { kept_ = true; }

private:
    sqlite3* database_;
    bool kept_ = false;
};

}  // namespace outrider::sqlite
