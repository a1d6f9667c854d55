#include "stores/postgres/caller.h"

#include "outrider/error.h"

namespace outrider::postgres {

void require_transaction(PGconn* connection) {
    const PGTransactionStatusType status = PQtransactionStatus(connection);
    if (status == PQTRANS_INTRANS) return;
    if (status == PQTRANS_INERROR) {
        throw Failure({Remedy::correct, "the transaction has failed already: roll it back"});
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
    Error error = error_of(connection, rows.get());
    if (error.text.find("does not exist") != std::string::npos) {
        error.text += "; run 'outrider migrate up'";
    }
    throw Failure(std::move(error));
}

}  // namespace outrider::postgres
