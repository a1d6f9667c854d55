#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include "core/result.h"

namespace outrider::sqlite {

// What went wrong on this connection, told with SQLite's own words, and what can be done about it.
[[nodiscard]] Error error_of(sqlite3* database, std::string_view what);

// A prepared statement. Bind, step, read, reset; text and blobs that are bound must outlive the
// step. Throws nothing.
class Statement {
public:
    Statement() = default;

    // Prepares for long use (on our own connections) or for once (on the caller's).
    [[nodiscard]] static Result<Statement> prepare(sqlite3* database, std::string_view sql);

    Statement& bind(int place, std::int64_t value);
    Statement& bind(int place, std::string_view text);
    Statement& bind(int place, std::optional<std::int64_t> value);
    Statement& bind_blob(int place, std::string_view bytes);
    Statement& bind_null(int place);

    // True: a row is there. False: there are no more.
    [[nodiscard]] Result<bool> step();

    // Runs a statement that returns no rows, and resets it. Returns how many rows it changed.
    [[nodiscard]] Result<std::int64_t> run();

    void reset();

    // Of the current row. Views live until the next step or reset.
    [[nodiscard]] std::int64_t integer(int column) const;
    [[nodiscard]] std::optional<std::int64_t> maybe_integer(int column) const;
    [[nodiscard]] std::string_view text(int column) const;   // null: empty
    [[nodiscard]] std::string_view bytes(int column) const;  // of text or blob; null: empty

private:
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// Resets a statement at the end of a scope, so that no read transaction is left open.
class ResetLater {
public:
    explicit ResetLater(Statement& statement) : statement_(statement) {}
    ~ResetLater() { statement_.reset(); }
    ResetLater(const ResetLater&) = delete;
    ResetLater& operator=(const ResetLater&) = delete;

private:
    Statement& statement_;
};

// A connection of our own. Where our tables are, it is in WAL mode and has synchronous=FULL, both
// read back: a commit that returned is on disk.
class Connection {
public:
    enum class Schema : std::uint8_t {
        needed,    // refuse a database without our tables, or with newer ones
        whatever,  // any database that exists
        created,   // any database, and a new one if there is none
    };
    // A plain path: SQLite's own URIs are refused, since a second name would have a second lock.
    // `patience`: how long to wait for another writer. A settle that gives up repeats messages, so
    // it is patient: only a writer that holds its transaction open for a minute costs anything.
    [[nodiscard]] static Result<Connection> open(
        const std::string& path,
        Schema schema,
        std::chrono::milliseconds patience = std::chrono::minutes(1)
    );

    [[nodiscard]] sqlite3* get() const { return database_.get(); }

    [[nodiscard]] Result<Statement> prepare(std::string_view sql) const {
        return Statement::prepare(get(), sql);
    }

    // An error if the file that is open is no longer the one of that name: it was moved away, and
    // perhaps another was put there. SQLite itself would go on with the old one. Costs a look at an
    // inode.
    [[nodiscard]] Result<void> check_in_place() const;

    // Runs statements without parameters or rows.
    [[nodiscard]] Result<void> run(const char* sql) const;

private:
    struct Close {
        void operator()(sqlite3* database) const { sqlite3_close(database); }
    };
    std::unique_ptr<sqlite3, Close> database_;
};

// A transaction that rolls back unless committed.
class Transaction {
public:
    // "begin" to read one state of the database, "begin immediate" to write.
    [[nodiscard]] static Result<Transaction> begin(const Connection& connection, const char* how);

    Transaction(Transaction&& other) noexcept
        : connection_(std::exchange(other.connection_, nullptr)) {}
    Transaction& operator=(Transaction&&) = delete;
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction();

    [[nodiscard]] Result<void> commit();

private:
    explicit Transaction(const Connection& connection) : connection_(&connection) {}
    const Connection* connection_;
};

}  // namespace outrider::sqlite
