#include "stores/sqlite/store.h"

#include <algorithm>

#include "stores/sqlite/claim.h"
#include "stores/sqlite/settler.h"
#include "stores/sqlite/sql.h"

namespace outrider::sqlite {
namespace {

struct Registered {
    std::int64_t id = 0;  // 0: not known
    std::string topics;
    std::string ordering;
    bool holds_keys = false;  // something is parked, or a dead letter holds its key
};

Result<Registered> find_destination(const Connection& connection, const Destination& destination) {
    Result<Statement> find = connection.prepare(sql::find_destination);
    if (!find) return find.error();
    const Result<bool> row = find->bind(1, destination.name).step();
    if (!row) return row.error();
    if (!*row) return Registered{};
    return Registered{
        find->integer(0),
        std::string(find->text(1)),
        std::string(find->text(2)),
        find->integer(3) != 0};
}

// What is parked was parked under its key, or under nobody's: the other order would not find it,
// and let later messages pass it.
Result<void> check_order(const Registered& known, const Destination& destination) {
    const bool is_global = destination.order == Order::global;
    const bool was_global = known.ordering == to_string(Order::global);
    if (!known.holds_keys || is_global == was_global) return {};
    return Error{
        Remedy::correct,
        "destination '" + destination.name + "' has parked messages or held keys under order = \"" +
            known.ordering + "\": keep that until 'outrider status' shows none, or forget it"};
}

// Looks first: registering takes the write lock, and a relay that only comes back should not wait
// for a busy writer. The newest registration wins, and ours is made once.
Result<std::int64_t> register_destination(
    const Connection& connection,
    const Destination& destination,
    TopicLists& lists
) {
    const std::string topics = topics_json(destination.topics);
    Result<Registered> known = find_destination(connection, destination);
    if (!known) return known.error();
    if (Result<void> may = check_order(*known, destination); !may) return may.error();
    if (known->topics != topics || known->ordering != to_string(destination.order)) {
        if (known->id != 0 && known->topics != topics) {
            const Result<void> may = lists.may_replace(destination, known->topics);
            if (!may) return may.error();
        }
        Result<Statement> insert = connection.prepare(sql::register_destination);
        if (!insert) return insert.error();
        insert->bind(1, destination.name).bind(2, topics);
        insert->bind(3, std::int64_t{destination.start == Start::now});
        insert->bind(4, to_string(destination.order));
        if (Result<std::int64_t> done = insert->run(); !done) return done.error();
        known = find_destination(connection, destination);
        if (!known) return known.error();
    }
    lists.remember(destination);
    if (known->id != 0) return known->id;
    return Error{
        Remedy::yield,
        "destination '" + destination.name + "' was forgotten by somebody else just now"};
}

}  // namespace

Result<StoreStatements> StoreStatements::prepare(const Connection& connection) {
    StoreStatements all;
    Error error;
    bool good = true;
    const auto fill = [&](Statement& statement, std::string_view sql) {
        Result<Statement> prepared = connection.prepare(sql);
        if (prepared) {
            statement = std::move(prepared).value();
        } else {
            good = false;
            error = prepared.error();
        }
    };
    fill(all.claim_cursor, sql::claim_cursor);
    fill(all.claim_due, sql::claim_due);
    fill(all.claim_chain, sql::claim_chain);
    fill(all.claim_next_due, sql::claim_next_due);
    fill(all.claim_blocked, sql::claim_blocked);
    fill(all.claim_log, sql::claim_log);
    fill(all.claim_known, sql::claim_known);
    fill(all.settle_cursor, sql::settle_cursor);
    fill(all.settle_park, sql::settle_park);
    fill(all.settle_park_again, sql::settle_park_again);
    fill(all.settle_unpark, sql::settle_unpark);
    fill(all.settle_bury, sql::settle_bury);
    fill(all.settle_bury_parked, sql::settle_bury_parked);
    fill(all.refresh_key, sql::refresh_key);
    fill(all.drop_key, sql::drop_key);
    if (!good) return error;
    return all;
}

SqliteStore::SqliteStore(
    Connection connection,
    StoreStatements statements,
    std::int64_t id,
    DestinationLock lock,
    const Destination& destination,
    std::shared_ptr<Clock> clock
)
    : connection_(std::move(connection)),
      statements_(std::move(statements)),
      id_(id),
      lock_(std::move(lock)),
      destination_(destination),
      clock_(std::move(clock)),
      topics_(topics_json(destination.topics)),
      filter_(destination.topics) {
}

Result<std::unique_ptr<Store>> SqliteStore::open(
    const std::string& path,
    const Destination& destination,
    std::shared_ptr<Clock> clock,
    TopicLists& lists
) {
    Result<Connection> connection = Connection::open(path, Connection::Schema::needed);
    if (!connection) return connection.error();
    const Result<std::int64_t> id = register_destination(*connection, destination, lists);
    if (!id) return id.error();
    Result<StoreStatements> statements = StoreStatements::prepare(*connection);
    if (!statements) return statements.error();
    return std::unique_ptr<Store>(new SqliteStore(
        std::move(connection).value(),
        std::move(statements).value(),
        *id,
        DestinationLock(path, *id),
        destination,
        std::move(clock)
    ));
}

Result<Batch> SqliteStore::claim(const BatchLimits& limits) {
    Batch batch;
    batch.now = clock_->wall();
    if (Result<void> same = connection_.check_in_place(); !same) return same.error();
    const Result<bool> ours = lock_.take();
    if (!ours) return ours.error();
    if (!*ours) {
        batch.held_elsewhere = true;
        return batch;
    }
    Result<Transaction> transaction = Transaction::begin(connection_, "begin");
    if (!transaction) return transaction.error();
    auto claim = std::make_unique<Claim>();
    ClaimReader reader(statements_, id_, destination_.order, filter_);
    if (Result<void> read = reader.read(limits, passed_, parked_share_, batch, *claim); !read)
        return read.error();
    if (Result<void> ended = transaction->commit(); !ended) return ended.error();
    if (claim->topics != topics_) {
        lock_.release();
        return another_list(destination_, claim->topics);
    }
    const bool read_nothing_of_ours = std::all_of(
        batch.envelopes.begin(), batch.envelopes.end(), [](const Envelope& e) { return e.parked; }
    );
    if (read_nothing_of_ours) passed_ = {claim->position, claim->scanned, claim->scanned_id};
    batch.hold = std::move(claim);
    return batch;
}

Result<void> SqliteStore::settle(Batch batch, std::span<const Settlement> settlements) {
    const auto& claim = dynamic_cast<const Claim&>(*batch.hold);
    Result<Transaction> transaction = Transaction::begin(connection_, "begin immediate");
    if (!transaction) return transaction.error();
    Settler settler(statements_, id_, to_millis(clock_->wall()));
    if (Result<void> written = settler.write(batch, claim, settlements); !written) return written;
    return transaction->commit();
}

Result<void> SqliteStore::try_writing() {
    Result<Transaction> transaction = Transaction::begin(connection_, "begin immediate");
    if (!transaction) return transaction.error();
    Result<Statement> update = connection_.prepare(sql::try_writing);
    if (!update) return update.error();
    // There and back: a claim that another relay has open by now must not notice.
    for (const std::int64_t step : {1, -1}) {
        const Result<std::int64_t> done = update->bind(1, id_).bind(2, step).run();
        if (!done) return done.error();
    }
    return transaction->commit();
}

}  // namespace outrider::sqlite
