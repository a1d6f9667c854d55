// Enqueue in libpq's pipeline mode.

#include "outrider/error.h"

#include "stores/postgres/caller.h"
#include "stores/postgres/statement.h"

namespace outrider::postgres {
namespace {

void send(PGconn* connection, const EnqueueStatement& statement) {
    const std::vector<const char*> values = statement.values();
    const int sent = PQsendQueryParams(
        connection,
        statement.text.c_str(),
        static_cast<int>(values.size()),
        nullptr,
        values.data(),
        nullptr,
        nullptr,
        0
    );
    if (sent != 1) throw Failure(application_error(connection, nullptr));
}

// Whether only the server can tell if a transaction is open: while statements are under way, one of
// them may be the BEGIN.
bool is_undecided(PGconn* connection) {
    if (PQpipelineStatus(connection) == PQ_PIPELINE_OFF) {
        throw Failure({Remedy::correct, "the connection is not in pipeline mode: use enqueue()"});
    }
    if (PQtransactionStatus(connection) == PQTRANS_ACTIVE) return true;
    require_transaction(connection);
    return false;
}

// Exactly one statement's answer. Nothing: the caller read too much or too little before.
Rows next_answer(PGconn* connection) {
    Rows answer(PQgetResult(connection));
    if (answer.get() == nullptr || PQresultStatus(answer.get()) == PGRES_PIPELINE_SYNC) {
        throw Failure(
            {Remedy::correct,
             "the results of the pipeline are read in another order than they were sent in"}
        );
    }
    while (const PGresult* end = PQgetResult(connection)) {
        PQclear(const_cast<PGresult*>(end));
    }
    return answer;
}

std::optional<Error> error_in(PGconn* connection, const PGresult* answer) {
    const ExecStatusType status = PQresultStatus(answer);
    if (status == PGRES_COMMAND_OK) return std::nullopt;
    if (status == PGRES_PIPELINE_ABORTED) {
        return Error{
            Remedy::correct,
            "a statement before it in the pipeline failed, so the message was not written"};
    }
    const char* state = PQresultErrorField(answer, PG_DIAG_SQLSTATE);
    if (state == nullptr || std::string_view(state) != "25P01") {
        return application_error(connection, answer);
    }
    return Error{
        Remedy::correct,
        "no transaction is open in this pipeline: send BEGIN before your own rows and the message"};
}

}  // namespace

PipelinedEnqueue send_enqueue(
    pg_conn* connection,
    const Message& message,
    const PostgresEnqueueOptions& options
) {
    const bool undecided = is_undecided(connection);
    require_texts(connection, std::span(&message, 1));
    const EnqueueStatement statement = enqueue_statement(message, options);
    PipelinedEnqueue sent;
    sent.id = statement.ids.front();
    if (undecided) {
        // A savepoint is refused outside of a transaction, and leaves nothing behind inside of one.
        send(connection, {"savepoint outrider_enqueue", {}, {}});
        send(connection, {"release outrider_enqueue", {}, {}});
        sent.results = 3;
    }
    send(connection, statement);
    return sent;
}

void receive_enqueue(pg_conn* connection, const PipelinedEnqueue& sent) {
    std::optional<Error> first;
    for (int i = 0; i < sent.results; ++i) {
        const Rows answer = next_answer(connection);
        const std::optional<Error> error = error_in(connection, answer.get());
        if (!first) first = error;
    }
    if (first) throw Failure(*first);
}

}  // namespace outrider::postgres
