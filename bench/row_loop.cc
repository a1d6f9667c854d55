// The loop that everybody writes first, for table_bench.py: claims a batch of rows in a transaction
// and then settles each of them with a statement of its own. No broker, no order, nothing else.
//
//     row_loop CONNINFO SECONDS CLAIM SETTLE     prints how many rows it has settled
//
// CLAIM gives the ids of a batch in its first column, SETTLE ends the row whose id is $1.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include <libpq-fe.h>

namespace {

using Connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;
using Rows = std::unique_ptr<PGresult, decltype(&PQclear)>;

Rows run(PGconn* connection, const std::string& sql, const char* parameter = nullptr) {
    const int parameters = parameter == nullptr ? 0 : 1;
    Rows rows(
        PQexecParams(connection, sql.c_str(), parameters, nullptr, &parameter, nullptr, nullptr, 0),
        PQclear
    );
    const ExecStatusType status = PQresultStatus(rows.get());
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) return rows;
    std::fprintf(stderr, "%s", PQerrorMessage(connection));
    std::exit(1);
}

long settle_some(PGconn* connection, const char* claim, const char* settle) {
    run(connection, "begin");
    const Rows rows = run(connection, claim);
    const int count = PQntuples(rows.get());
    for (int row = 0; row < count; ++row) {
        run(connection, settle, PQgetvalue(rows.get(), row, 0));
    }
    run(connection, "commit");
    return count;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) return 2;
    const Connection connection(PQconnectdb(argv[1]), PQfinish);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[2]));
    long settled = 0;
    while (std::chrono::steady_clock::now() < end) {
        settled += settle_some(connection.get(), argv[3], argv[4]);
    }
    std::printf("%ld\n", settled);
    return 0;
}
