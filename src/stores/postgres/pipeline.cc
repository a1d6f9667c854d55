#include "stores/postgres/pipeline.h"

#include <algorithm>
#include <optional>

namespace outrider::postgres {

void Pipeline::add(const std::string& name, const std::string& sql, const Parameters& parameters) {
    if (steps_.empty()) failed_ = PQenterPipelineMode(connection_.get()) != 1;
    failed_ = failed_ || !send(name, sql, parameters);
}

bool Pipeline::send(const std::string& name, const std::string& sql, const Parameters& parameters) {
    PGconn* connection = connection_.get();
    const std::vector<const char*> values = parameters.pointers();
    if (connection_.is_pooled()) {
        steps_.push_back({});
        return PQsendQueryParams(
                   connection,
                   sql.c_str(),
                   parameters.count(),
                   nullptr,
                   values.data(),
                   nullptr,
                   nullptr,
                   1
               ) == 1;
    }
    if (!prepared_.contains(name) && !is_being_prepared(name)) {
        steps_.push_back({.prepares = name});
        if (PQsendPrepare(connection, name.c_str(), sql.c_str(), 0, nullptr) != 1) return false;
    }
    steps_.push_back({});
    return PQsendQueryPrepared(
               connection, name.c_str(), parameters.count(), values.data(), nullptr, nullptr, 1
           ) == 1;
}

bool Pipeline::is_being_prepared(const std::string& name) const {
    return std::any_of(steps_.begin(), steps_.end(), [&name](const Step& step) {
        return step.prepares == name;
    });
}

Result<std::vector<Rows>> Pipeline::finish() {
    if (failed_ || PQpipelineSync(connection_.get()) != 1) {
        steps_.clear();
        return connection_.error();
    }
    Result<std::vector<Rows>> results = collect();
    steps_.clear();
    if (PQexitPipelineMode(connection_.get()) != 1 && results) return connection_.error();
    return results;
}

// Each statement's results end with a null; the sync point comes as a result of its own.
Result<std::vector<Rows>> Pipeline::collect() {
    std::vector<Rows> all;
    std::optional<Error> error;
    for (const Step& step : steps_) {
        PGresult* raw = PQgetResult(connection_.get());
        if (raw == nullptr) return error ? *error : connection_.error();
        Rows rows(raw);
        const ExecStatusType status = PQresultStatus(raw);
        const bool good = status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
        if (!good && status != PGRES_PIPELINE_ABORTED && !error)
            error = error_of(connection_.get(), raw);
        if (step.prepares.empty()) {
            all.push_back(std::move(rows));
        } else if (good) {
            prepared_.insert(step.prepares);
        }
        if (PQstatus(connection_.get()) != CONNECTION_OK) return connection_.error();
        while (PGresult* rest = PQgetResult(connection_.get())) PQclear(rest);
    }
    const Rows sync(PQgetResult(connection_.get()));
    if (error) return *error;
    return all;
}

}  // namespace outrider::postgres
