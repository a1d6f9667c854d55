#include "cli/store_postgres.h"

#include "outrider/error.h"
#include "outrider/postgres.h"
#include "outrider/postgres_store.h"

#include "cli/exit_code.h"
#include "cli/store_table.h"
#include "cli/table_origin.h"
#include "stores/postgres/connection.h"
#include "stores/postgres/migrate.h"

namespace outrider::cli {
namespace {

void run(const postgres::Connection& connection, const char* sql) {
    if (Result<void> done = connection.run_script(sql); !done) throw Failure(done.error());
}

}  // namespace

Problems check_postgres(const Config& config) {
    char* problem = nullptr;
    PQconninfoOption* options = PQconninfoParse(config.store.reveal().c_str(), &problem);
    PQconninfoFree(options);
    if (options == nullptr) {
        // libpq quotes the whole URL, password included, so its text is not shown.
        PQfreemem(problem);
        return {
            {origin_of(config, {"store.url"}),
             "libpq cannot read '" + config.store.masked() +
                 "': write postgres://user@host:port/database",
             {}}};
    }
    const Result<postgres::Names> names = postgres::Names::of(config.postgres.schema);
    if (!names) return {{origin_of(config, {"store.schema"}), names.error().text, {}}};
    if (config.layout == StoreLayout::table) return check_table(config);
    if (config.table == table::TableOptions{}) return {};
    return {
        {table_origin(config),
         "[store.table] is for layout = \"table\": write it into [store], or remove it",
         {}}};
}

std::shared_ptr<StoreDriver> open_postgres(const Config& config) {
    if (config.layout == StoreLayout::table) return open_table(config);
    postgres::Options options = config.postgres;
    options.conninfo = config.store.reveal();
    return postgres::open_store(options);
}

std::vector<MessageId> enqueue_postgres(const Config& config, std::span<const Message> messages) {
    if (config.layout == StoreLayout::table) {
        throw Stop(kUsage, "layout = \"table\": only the application writes into its own table");
    }
    const auto connection = postgres::Connection::open(config.store.reveal());
    if (!connection) throw Stop(kCannotConnect, connection.error().text);
    run(*connection, "begin");
    postgres::PostgresEnqueueOptions options;
    options.schema = config.postgres.schema;
    std::vector<MessageId> ids = postgres::enqueue(connection->get(), messages, options);
    run(*connection, "commit");
    return ids;
}

std::string postgres_schema_text(const Config& config) {
    if (config.layout == StoreLayout::table) return table_schema_text(config);
    const Result<postgres::Names> names = postgres::Names::of(config.postgres.schema);
    if (!names) throw Stop(kUsage, names.error().text);
    return postgres::schema_text(*names, config.postgres.lanes);
}

}  // namespace outrider::cli
