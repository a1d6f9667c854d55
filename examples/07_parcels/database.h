#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <libpq-fe.h>

// As much of a PostgreSQL client as the two programs need. Everything throws std::runtime_error.

class Rows {
public:
    explicit Rows(PGresult* result) : result_(result, PQclear) {}
    [[nodiscard]] int count() const { return PQntuples(result_.get()); }
    [[nodiscard]] std::string text(int row, int column) const {
        return PQgetvalue(result_.get(), row, column);
    }

private:
    std::unique_ptr<PGresult, decltype(&PQclear)> result_;
};

class Database {
public:
    explicit Database(const std::string& conninfo)
        : connection_(PQconnectdb(conninfo.c_str()), PQfinish) {
        if (PQstatus(get()) != CONNECTION_OK) throw std::runtime_error(PQerrorMessage(get()));
    }

    [[nodiscard]] PGconn* get() const { return connection_.get(); }

    Rows run(const std::string& sql, const std::vector<std::string>& parameters = {}) const {
        std::vector<const char*> values;
        for (const std::string& parameter : parameters) values.push_back(parameter.c_str());
        const int count = static_cast<int>(values.size());
        PGresult* result =
            PQexecParams(get(), sql.c_str(), count, nullptr, values.data(), nullptr, nullptr, 0);
        Rows rows(result);
        const ExecStatusType status = PQresultStatus(result);
        if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
            throw std::runtime_error(PQerrorMessage(get()));
        }
        return rows;
    }

private:
    std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};
