#pragma once

#include <stdexcept>
#include <string>

#include <sqlite3.h>

namespace outrider {

// A connection as an application would have it. Throws on every error.
class SqliteSession {
public:
    explicit SqliteSession(const std::string& path) {
        if (sqlite3_open(path.c_str(), &database_) != SQLITE_OK) {
            throw std::runtime_error(sqlite3_errmsg(database_));
        }
        sqlite3_busy_timeout(database_, 10'000);
    }
    ~SqliteSession() { sqlite3_close(database_); }
    SqliteSession(const SqliteSession&) = delete;
    SqliteSession& operator=(const SqliteSession&) = delete;

    [[nodiscard]] sqlite3* get() const { return database_; }

    void run(const std::string& sql) const {
        if (sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
            throw std::runtime_error(sqlite3_errmsg(database_));
        }
    }

    // The first column of the first row.
    [[nodiscard]] std::string value(const std::string& sql) const {
        std::string result;
        const auto take = [](void* to, int, char** columns, char**) {
            if (columns[0] != nullptr) *static_cast<std::string*>(to) = columns[0];
            return 0;
        };
        if (sqlite3_exec(database_, sql.c_str(), take, &result, nullptr) != SQLITE_OK) {
            throw std::runtime_error(sqlite3_errmsg(database_));
        }
        return result;
    }

private:
    sqlite3* database_ = nullptr;
};

}  // namespace outrider
