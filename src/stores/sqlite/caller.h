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

// A unit of work lies in a savepoint. It collects messages that no rollback to a savepoint can take
// back, so whatever undoes a part of it releases the mark, and the unit cannot be committed.
inline constexpr const char* kMarkUnit = "savepoint outrider_unit";
inline constexpr const char* kReleaseUnit = "release outrider_unit";

// All or none, inside a transaction that belongs to somebody else: what was written since is undone
// unless it is kept.
class Savepoint {
public:
    explicit Savepoint(sqlite3* database);
    ~Savepoint();
    Savepoint(const Savepoint&) = delete;
    Savepoint& operator=(const Savepoint&) = delete;

    // Throws Failure (correct) if somebody has ended its transaction meanwhile.
    void keep();

private:
    sqlite3* database_;
    bool kept_ = false;
};

}  // namespace outrider::sqlite
