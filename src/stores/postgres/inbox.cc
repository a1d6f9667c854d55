#include <algorithm>
#include <cstdlib>

#include "outrider/error.h"
#include "outrider/postgres_inbox.h"

#include "stores/postgres/caller.h"
#include "stores/postgres/connection.h"
#include "stores/postgres/names.h"
#include "stores/postgres/sql.h"

namespace outrider::postgres {
namespace {

// After this the server commits nothing of the transaction, whatever its client says.
constexpr const char* kDoom =
    "do $$ begin raise exception 'outrider: an effect has failed, so its transaction must be "
    "rolled back'; end $$";

// Also while a statement is under way: whoever reads its results can commit behind it.
bool may_still_commit(PGconn* connection) {
    const PGTransactionStatusType status = PQtransactionStatus(connection);
    return status == PQTRANS_INTRANS || status == PQTRANS_ACTIVE;
}

// A longer time leads beyond the last year that the server knows.
constexpr Duration kRetentionMax = std::chrono::hours(24 * 365 * 1000);

std::optional<std::int64_t> maybe_number(const Rows& rows, int row, int column) {
    if (rows.is_null(row, column)) return std::nullopt;
    return std::strtoll(PQgetvalue(rows.get(), row, column), nullptr, 10);
}

Receipt record(
    PGconn* connection,
    std::string_view consumer,
    const Arrival& arrival,
    const PostgresInboxOptions& options
) {
    Parameters parameters;
    parameters.add(consumer)
        .add(std::string_view(arrival.id.to_string()))
        .add(std::string_view(arrival.topic))
        .add(std::string_view(arrival.key));
    if (arrival.position) {
        parameters.add(*arrival.position);
    } else {
        parameters.add_null();
    }
    const Duration kept = std::min(options.retention, kRetentionMax);
    const std::string retention = std::to_string(kept.count()) + " microseconds";
    parameters.add(std::string_view(retention));
    const Rows row = run_for_caller(connection, inbox_statement(options.schema), parameters);
    const bool is_new = *PQgetvalue(row.get(), 0, 0) == 't';
    return judge(is_new, arrival.position, maybe_number(row, 0, 1));
}

}  // namespace

std::string inbox_statement(std::string_view schema) {
    const Result<Names> names = Names::of(schema);
    if (!names) throw Failure(names.error());
    return names->fill(sql::inbox_entry);
}

InboxEntry::InboxEntry(
    pg_conn* connection,
    std::string_view consumer,
    const Arrival& arrival,
    const PostgresInboxOptions& options
)
    : connection_(connection) {
    validate(consumer, arrival);
    require_transaction(connection);
    require_texts(connection, arrival);
    receipt_ = record(connection, consumer, arrival, options);
}

InboxEntry::~InboxEntry() {
    if (kept_ || !may_still_commit(connection_)) return;
    leave_pipeline(connection_);
    const Rows doomed(PQexec(connection_, kDoom));
}

std::uint64_t Inbox::clean_up(pg_conn* connection, std::size_t limit) const {
    const Result<Names> names = Names::of(options_.schema);
    if (!names) throw Failure(names.error());
    const Rows gone = run_for_caller(
        connection,
        names->fill(sql::inbox_clean_up),
        Parameters().add(static_cast<std::int64_t>(limit))
    );
    return static_cast<std::uint64_t>(maybe_number(gone, 0, 0).value_or(0));
}

}  // namespace outrider::postgres
