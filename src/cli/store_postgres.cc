#include "cli/store_postgres.h"

#include "outrider/error.h"
#include "outrider/postgres.h"

#include "cli/exit_code.h"
#include "stores/postgres/connection.h"
#include "stores/postgres/driver.h"
#include "stores/postgres/migrate.h"

namespace outrider::cli {
namespace {

void run(const postgres::Connection& connection, const char* sql) {
    if (Result<void> done = connection.run_script(sql); !done) throw Failure(done.error());
}

}  // namespace

Result<void> check_postgres(const SecretUrl& url) {
    char* problem = nullptr;
    PQconninfoOption* options = PQconninfoParse(url.reveal().c_str(), &problem);
    PQconninfoFree(options);
    if (options != nullptr) return {};
    // libpq quotes the whole URL, password included, so its text is not shown.
    PQfreemem(problem);
    return Error{
        Remedy::correct,
        "libpq cannot read '" + url.masked() + "': write postgres://user@host:port/database"};
}

std::shared_ptr<StoreDriver> open_postgres(const SecretUrl& url) {
    postgres::StoreOptions options;
    options.conninfo = url.reveal();
    return postgres::make_driver(options);
}

std::vector<MessageId> enqueue_postgres(const SecretUrl& url, std::span<const Message> messages) {
    const auto connection = postgres::Connection::open(url.reveal());
    if (!connection) throw Stop(kCannotConnect, connection.error().text);
    run(*connection, "begin");
    std::vector<MessageId> ids = postgres::enqueue(connection->get(), messages);
    run(*connection, "commit");
    return ids;
}

std::string postgres_schema_text() {
    const postgres::StoreOptions defaults;
    const Result<postgres::Names> names = postgres::Names::of(defaults.schema);
    return names ? postgres::schema_text(*names, defaults.lanes) : "";
}

}  // namespace outrider::cli
