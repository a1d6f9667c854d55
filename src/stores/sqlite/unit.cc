// Units of work on SQLite's connections.

#include "outrider/sqlite_unit.h"

#include "stores/sqlite/caller.h"

namespace outrider::sqlite {
namespace {

bool is_busy(int code) {
    return (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED;
}

// For an application, busy means: run it again.
void run(sqlite3* database, const char* sql) {
    if (sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return;
    Error error = error_of(database, "SQLite");
    if (is_busy(sqlite3_errcode(database))) error.remedy = Remedy::yield;
    throw Failure(std::move(error));
}

class SqliteSession final : public UnitSession {
public:
    SqliteSession(sqlite3* database, EnqueueOptions options)
        : database_(database),
          options_(std::move(options)) {}

    void commit(std::span<const Message> messages) override {
        if (sqlite3_get_autocommit(database_) != 0) {
            throw Failure(
                {Remedy::correct,
                 "the transaction was ended behind the unit's back, and its messages were not "
                 "written: leave COMMIT and ROLLBACK to the unit, and look at every result (SQLite "
                 "rolls back by itself when the disk is full)"}
            );
        }
        require_whole();
        if (!messages.empty()) enqueue(database_, messages, options_);
        if (sqlite3_exec(database_, "commit", nullptr, nullptr, nullptr) == SQLITE_OK) return;
        fail_commit();
    }

    void rollback() noexcept override {
        if (sqlite3_get_autocommit(database_) != 0) return;
        sqlite3_exec(database_, "rollback", nullptr, nullptr, nullptr);
    }

    // The connection remembers how its last call ended, so exceptions of any make will do.
    [[nodiscard]] bool may_repeat(const std::exception& error) const noexcept override {
        const auto* failure = dynamic_cast<const Failure*>(&error);
        if (failure != nullptr && failure->remedy() == Remedy::yield) return true;
        if (failure != nullptr) return is_busy(failure->error().native_code);
        return is_busy(sqlite3_errcode(database_));
    }

private:
    void require_whole() {
        const int code = sqlite3_exec(database_, kReleaseUnit, nullptr, nullptr, nullptr);
        if (code == SQLITE_OK) return;
        if (is_busy(code)) fail_commit();
        throw Failure(
            {Remedy::correct,
             "the effect of an inbox failed in this unit, which can then only be rolled back: let "
             "the effect's exception end the unit, and note the failure in another one"}
        );
    }

    // A failed write to disk may have reached it nevertheless: then whoever opens the database next
    // finds the transaction in its log.
    [[noreturn]] void fail_commit() {
        const int code = sqlite3_errcode(database_);
        Error error = error_of(database_, "SQLite");
        if (is_busy(code)) error.remedy = Remedy::yield;
        if ((code & 0xff) != SQLITE_IOERR) throw Failure(std::move(error));
        rollback();
        error.remedy = Remedy::call;
        error.text +=
            "; the disk failed during the commit: it happened, or it did not. Open the "
            "database again and look for your rows";
        throw CommitUnknown(std::move(error), "");
    }

    sqlite3* database_;
    EnqueueOptions options_;
};

}  // namespace

std::unique_ptr<UnitSession> begin_session(sqlite3* database, const UnitOptions& options) {
    if (sqlite3_get_autocommit(database) == 0) {
        throw Failure(
            {Remedy::correct,
             "a transaction is open on this connection already: units of work do not nest. Hand "
             "the open one to whoever wants to enqueue in it"}
        );
    }
    auto session = std::make_unique<SqliteSession>(database, options);
    run(database, options.lock == Lock::at_begin ? "begin immediate" : "begin");
    sqlite3_exec(database, kMarkUnit, nullptr, nullptr, nullptr);  // unmarked, it cannot commit
    return session;
}

bool may_repeat(int result_code) noexcept {
    return is_busy(result_code);
}

UnitOfWork<sqlite3> begin(sqlite3* database, const UnitOptions& options) {
    return {begin_session(database, options), database, options};
}

}  // namespace outrider::sqlite
