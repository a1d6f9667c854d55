#pragma once

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include <libpq-fe.h>

#include "support/temp_folder.h"

namespace outrider {

// A connection as an application would have it. Throws on every error.
class PostgresSession {
public:
    explicit PostgresSession(const std::string& conninfo);
    ~PostgresSession();
    PostgresSession(const PostgresSession&) = delete;
    PostgresSession& operator=(const PostgresSession&) = delete;

    [[nodiscard]] PGconn* get() const { return connection_; }
    void run(const std::string& sql) const;

    // The first column of the first row; empty if there is none.
    [[nodiscard]] std::string value(const std::string& sql) const;

    // The first column of all rows.
    [[nodiscard]] std::vector<std::string> column(const std::string& sql) const;

private:
    PGconn* connection_ = nullptr;
};

// Where tests run as root, servers that refuse to do so run as the user postgres, and need this.
void give_to_postgres(const std::string& path);

// A PostgreSQL server of our own in a temporary folder, reached by a socket there, so that any
// number may run. PostgreSQL refuses to run as root: then it runs as the user postgres.
// OUTRIDER_PG_BIN names the folder of its programs, else the newest of Debian's.
class PostgresServer {
public:
    // Extra lines for postgresql.conf.
    explicit PostgresServer(const std::string& configuration = "");
    ~PostgresServer();
    PostgresServer(const PostgresServer&) = delete;
    PostgresServer& operator=(const PostgresServer&) = delete;

    // One for the whole test binary.
    static PostgresServer& shared();

    // Where its socket is.
    [[nodiscard]] std::string folder() const { return folder_.path().string(); }

    // What the server has written since it exists.
    [[nodiscard]] std::string log_file() const { return folder_.file("server.log"); }

    // A fresh database; returns its conninfo.
    std::string create_database();
    [[nodiscard]] std::string conninfo(const std::string& database) const;

    // Copies a database of this server into an empty one of any, by pg_dump and psql.
    void dump(const std::string& from, const std::string& to) const;

    // The same data on a new timeline, as after a failover.
    void promote();

    // From now on a standby, which may be read only.
    void stand_by();

    void start();
    void kill(int signal);  // and waits for the end

    // What the server has logged so far.
    [[nodiscard]] std::string log() const;

private:
    [[nodiscard]] pid_t spawn(const std::vector<std::string>& command, const std::string& log)
        const;

    TempFolder folder_;
    std::string programs_;
    pid_t pid_ = -1;
    std::atomic<int> databases_ = 0;
};

}  // namespace outrider
