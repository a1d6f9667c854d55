#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <libpq-fe.h>

#include "core/result.h"

namespace outrider::postgres {

// What an SQLSTATE asks for: wait and try again, start afresh, or change something. One table for
// all of us.
[[nodiscard]] Remedy remedy_of(std::string_view sqlstate);

// The native code of an error: its SQLSTATE, read as a number with 36 digits.
[[nodiscard]] constexpr int native_code_of(std::string_view sqlstate) {
    int code = 0;
    for (const char c : sqlstate.substr(0, 5)) {
        code = code * 36 + (c >= 'A' ? c - 'A' + 10 : c - '0');
    }
    return code;
}

// Rows that came back, in binary. Views into it live as long as it does.
class Rows {
public:
    explicit Rows(PGresult* result) : result_(result) {}

    [[nodiscard]] int count() const { return PQntuples(result_.get()); }
    [[nodiscard]] bool is_null(int row, int column) const {
        return PQgetisnull(result_.get(), row, column) == 1;
    }
    [[nodiscard]] std::string_view bytes(int row, int column) const;  // null: empty
    [[nodiscard]] std::int64_t integer(int row, int column) const;    // of 2, 4 or 8 bytes
    [[nodiscard]] bool boolean(int row, int column) const;            // null: false

    // Rows that a statement changed.
    [[nodiscard]] std::int64_t changed() const;

    [[nodiscard]] PGresult* get() const { return result_.get(); }

private:
    struct Clear {
        void operator()(PGresult* result) const { PQclear(result); }
    };
    std::unique_ptr<PGresult, Clear> result_;
};

// Parameters of a statement, as text; the server knows their types from the statement.
class Parameters {
public:
    Parameters& add(std::string_view text);
    Parameters& add(std::int64_t value) { return add(std::string_view(std::to_string(value))); }
    Parameters& add(bool value) { return add(std::string_view(value ? "t" : "f")); }
    Parameters& add(const char*) = delete;  // would be a bool: write std::string_view("...")
    Parameters& add_null();

    [[nodiscard]] std::vector<const char*> pointers() const;
    [[nodiscard]] int count() const { return static_cast<int>(values_.size()); }

private:
    std::vector<std::optional<std::string>> values_;
};

// Builds the text of an array parameter, element by element.
class ArrayText {
public:
    void add(std::int64_t value) { raw(std::to_string(value)); }
    void add(bool value) { raw(value ? "t" : "f"); }
    void add(std::string_view text);  // quoted
    void add(const char*) = delete;   // would be a bool
    void add_null() { raw("NULL"); }
    [[nodiscard]] std::string text() const { return text_ + "}"; }

private:
    void raw(std::string_view element);

    std::string text_ = "{";
};

// The elements of an array of integers, as text: {1,2}.
[[nodiscard]] std::vector<std::int64_t> read_array(std::string_view text);

// A connection of our own: UTF-8, keepalives set, so that a silent partition is noticed within
// seconds. One thread at a time.
class Connection {
public:
    // What a statement finds that does not say in which schema: only what is the server's own, or
    // what the user has set, where tables are the user's.
    enum class Path : std::uint8_t { catalog, user };

    // `conninfo`: anything libpq takes. The error never contains it. Its remedy is to wait while
    // the server is away, starting or full, and to correct what it refuses: password, user,
    // database.
    [[nodiscard]] static Result<Connection> open(
        const std::string& conninfo,
        Path path = Path::catalog
    );

    [[nodiscard]] PGconn* get() const { return connection_.get(); }

    // Somebody stands between us and the server, and may hand each transaction to another session:
    // nothing that outlives a transaction can be relied on.
    [[nodiscard]] bool is_pooled() const { return pooled_; }

    // One statement and its rows.
    [[nodiscard]] Result<Rows> run(const std::string& sql, const Parameters& parameters = {}) const;

    // Statements without parameters or rows, any number.
    [[nodiscard]] Result<void> run_script(const std::string& sql) const;

    // The error of the last call.
    [[nodiscard]] Error error() const;

    // Whether the database keeps texts that are no UTF-8, and hands them out as they are.
    [[nodiscard]] bool keeps_any_bytes() const { return server_encoding() == "SQL_ASCII"; }

    // A text of somebody else's, as the database can hold it: where its encoding is not UTF-8,
    // whatever is not ASCII becomes a question mark.
    [[nodiscard]] std::string storable(std::string_view text) const;

private:
    [[nodiscard]] std::string_view server_encoding() const;

    struct Finish {
        void operator()(PGconn* connection) const { PQfinish(connection); }
    };
    std::unique_ptr<PGconn, Finish> connection_;
    bool pooled_ = false;
};

[[nodiscard]] Error error_of(PGconn* connection, const PGresult* result);

}  // namespace outrider::postgres
