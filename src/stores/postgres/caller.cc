#include "stores/postgres/caller.h"

namespace outrider::postgres {

Remedy application_remedy(std::string_view sqlstate) {
    if (sqlstate == "40001" || sqlstate == "40P01") return Remedy::yield;
    const Remedy remedy = remedy_of(sqlstate);
    // For a relay a unique violation is somebody else's turn; for an application it is a mistake.
    return remedy == Remedy::yield ? Remedy::correct : remedy;
}

Error error_for(std::string_view sqlstate, std::string text) {
    if (sqlstate == "42P01" || sqlstate == "3F000") text += "; run 'outrider migrate up'";
    return {application_remedy(sqlstate), std::move(text)};
}

Error application_error(PGconn* connection, const PGresult* result) {
    Error error = error_of(connection, result);
    const char* state = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
    return state == nullptr ? error : error_for(state, std::move(error.text));
}

void require_plain_mode(PGconn* connection) {
    if (PQpipelineStatus(connection) == PQ_PIPELINE_OFF) return;
    throw Failure(
        {Remedy::correct,
         "the connection is in pipeline mode: leave it first, or use send_enqueue() and "
         "receive_enqueue()"}
    );
}

void leave_pipeline(PGconn* connection) noexcept {
    if (PQpipelineStatus(connection) == PQ_PIPELINE_OFF) return;
    if (PQpipelineSync(connection) != 1) return;
    while (PQstatus(connection) == CONNECTION_OK) {
        const Rows answer(PQgetResult(connection));
        // The last of them is ours; the caller may have sent others before.
        const bool is_sync = PQresultStatus(answer.get()) == PGRES_PIPELINE_SYNC;
        if (is_sync && PQexitPipelineMode(connection) == 1) return;
    }
}

void require_transaction(PGconn* connection) {
    const PGTransactionStatusType status = PQtransactionStatus(connection);
    if (status == PQTRANS_INTRANS) return;
    if (status == PQTRANS_INERROR) {
        throw Failure({Remedy::correct, "the transaction has failed already: roll it back"});
    }
    if (status == PQTRANS_UNKNOWN) throw Failure({Remedy::wait, "the connection is lost"});
    if (status == PQTRANS_ACTIVE) {
        throw Failure(
            {Remedy::correct,
             "the connection is still busy with another statement: read its results first"}
        );
    }
    throw Failure(
        {Remedy::correct,
         "no transaction is open on this connection: begin one, write your own rows and the "
         "message in it, and commit both together"}
    );
}

Rows run_for_caller(PGconn* connection, const std::string& sql, const Parameters& parameters) {
    const std::vector<const char*> values = parameters.pointers();
    Rows rows(PQexecParams(
        connection, sql.c_str(), parameters.count(), nullptr, values.data(), nullptr, nullptr, 0
    ));
    const ExecStatusType status = PQresultStatus(rows.get());
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return rows;
    throw Failure(application_error(connection, rows.get()));
}

}  // namespace outrider::postgres
