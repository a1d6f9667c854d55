#include "stores/sqlite/caller.h"

#include "outrider/error.h"

namespace outrider::sqlite {

void require_transaction(sqlite3* database) {
    if (sqlite3_get_autocommit(database) == 0) return;
    throw Failure(
        {Remedy::correct,
         "no transaction is open on this connection: begin one, write your own rows and the "
         "message in it, and commit both together"}
    );
}

void fail_caller(Error error) {
    if (error.text.find("no such table") != std::string::npos) {
        error.text += "; run 'outrider migrate up' or call outrider::sqlite::migrate()";
    }
    throw Failure(std::move(error));
}

Statement prepare_for_caller(sqlite3* database, std::string_view sql) {
    Result<Statement> statement = Statement::prepare(database, sql);
    if (!statement) fail_caller(statement.error());
    return std::move(statement).value();
}

Savepoint::Savepoint(sqlite3* database) : database_(database) {
    if (sqlite3_exec(database_, "savepoint outrider", nullptr, nullptr, nullptr) != SQLITE_OK) {
        fail_caller(error_of(database_, "SQLite"));
    }
}

void Savepoint::keep() {
    if (sqlite3_exec(database_, "release outrider", nullptr, nullptr, nullptr) != SQLITE_OK) {
        throw Failure(
            {Remedy::correct,
             "the transaction was ended before its work was done: leave COMMIT and ROLLBACK to "
             "whoever began it, and look at every result (SQLite rolls back by itself when the "
             "disk is full)"}
        );
    }
    kept_ = true;
}

// After some errors SQLite has rolled back everything by itself; then both do nothing.
Savepoint::~Savepoint() {
    if (kept_) return;
    sqlite3_exec(database_, "rollback to outrider", nullptr, nullptr, nullptr);
    sqlite3_exec(database_, "release outrider", nullptr, nullptr, nullptr);
}

}  // namespace outrider::sqlite
