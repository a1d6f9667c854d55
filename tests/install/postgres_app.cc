// What an application with PostgreSQL writes. It links outrider::postgres and knows nothing else.

#include <cstdio>

#include <libpq-fe.h>
#include <outrider/error.h>
#include <outrider/postgres.h>
#include <outrider/postgres_unit.h>

int main() {
    PGconn* nobody = PQconnectdb("host=/nowhere");
    try {
        auto unit = outrider::begin(nobody);
        unit.commit();
    } catch (const outrider::Failure& failure) {
        std::puts(failure.what());
    }
    PQfinish(nobody);
}
