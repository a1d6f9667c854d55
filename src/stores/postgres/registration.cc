#include "stores/postgres/registration.h"

#include "core/hash.h"
#include "stores/postgres/identity.h"
#include "stores/postgres/migrate.h"
#include "stores/postgres/sql.h"

namespace outrider::postgres {
namespace {

struct Known {
    std::int64_t id = 0;  // 0: not known
    std::string topics;
    std::int64_t cursors = 0;
    bool is_same = false;  // its topics are ours
    std::string ordering;
    std::int64_t newest = 0;  // turn
};

// As it is when a destination is made known.
struct Log {
    std::int64_t lanes = 0;
    std::int64_t floor = 0;
    std::int64_t origin = 0;
};

Result<Known> find(
    const Connection& connection,
    const Names& names,
    const Destination& destination
) {
    const Result<Rows> rows = connection.run(
        names.fill(sql::find_destination),
        Parameters()
            .add(std::string_view(destination.name))
            .add(std::string_view(topics_json(destination.topics)))
    );
    if (!rows) return rows.error();
    if (rows->count() == 0) return Known{};
    return Known{
        rows->integer(0, 0),
        std::string(rows->bytes(0, 1)),
        rows->integer(0, 2),
        rows->boolean(0, 3),
        std::string(rows->bytes(0, 4)),
        rows->integer(0, 5)};
}

std::int64_t cursors_of(const Destination& destination, std::int64_t lanes) {
    return destination.order == Order::global ? 1 : lanes;
}

// Cursors and parked messages are those of its order.
Result<void> check_order(const Known& known, const Destination& destination, std::int64_t lanes) {
    if (known.cursors == 0) return {};
    const bool is_global = destination.order == Order::global;
    const bool was_global = known.ordering == to_string(Order::global);
    if (is_global == was_global && known.cursors == cursors_of(destination, lanes)) return {};
    return Error{
        Remedy::correct,
        "destination '" + destination.name + "' was created with another order (global or not): " +
            "forget it, or give the new one another name"};
}

Result<void> check_topics(const Known& known, const Destination& destination, TopicLists& lists) {
    if (known.id == 0 || known.is_same) return {};
    return lists.may_replace(destination, known.topics);
}

bool is_complete(const Known& known, const Destination& destination) {
    return known.id != 0 && known.cursors != 0 && known.is_same &&
           known.ordering == to_string(destination.order);
}

// Finds the destination, or makes it known, with our topics: the newest registration wins, and ours
// is made once. One that is refused has changed nothing.
Result<Known> find_or_add(
    const Connection& connection,
    const Names& names,
    const Destination& destination,
    const Log& log,
    TopicLists& lists
) {
    Result<Known> known = find(connection, names, destination);
    if (!known) return known;
    if (Result<void> same = check_order(*known, destination, log.lanes); !same) return same.error();
    if (Result<void> may = check_topics(*known, destination, lists); !may) return may.error();
    if (is_complete(*known, destination)) return known;
    const Result<Rows> inserted = connection.run(
        names.fill(sql::register_destination),
        Parameters()
            .add(std::string_view(destination.name))
            .add(std::string_view(topics_json(destination.topics)))
            .add(to_string(destination.order))
    );
    if (!inserted) return inserted.error();
    known = find(connection, names, destination);
    if (!known || known->cursors != 0) return known;
    const Result<Rows> added = connection.run(
        names.fill(sql::register_cursors),
        Parameters()
            .add(known->id)
            .add(cursors_of(destination, log.lanes))
            .add(destination.start == Start::now)
            .add(log.floor)
    );
    if (!added) return added.error();
    return known;
}

// One at a time, so that neither an operator who forgets it meanwhile nor a relay with another
// order leaves half of it. In read committed, whatever the database's default is: under the lock
// everybody sees what the one before has written.
Result<Known> find_or_add_alone(
    const Connection& connection,
    const Names& names,
    const Destination& destination,
    const Log& log,
    TopicLists& lists
) {
    // Between the floor and the snapshot of the cursors: every id at or above that one's xmax then
    // has numbers above the floor.
    const Result<Rows> drawn = connection.run("select pg_current_xact_id()");
    if (!drawn) return drawn.error();
    const Result<void> begun = connection.run_script("begin isolation level read committed");
    if (!begun) return begun.error();
    const Result<Rows> alone = connection.run(
        "select pg_advisory_xact_lock($1)",
        Parameters().add(registration_lock(names, destination.name))
    );
    Result<Known> known = alone ? find_or_add(connection, names, destination, log, lists)
                                : Result<Known>(alone.error());
    const Result<void> ended = connection.run_script(known ? "commit" : "rollback");
    if (known && !ended) return ended.error();
    return known;
}

Result<Log> read_log(const Connection& connection, const Names& names) {
    const Result<Rows> now = connection.run(names.fill(sql::last_number));
    if (!now) return now.error();
    if (!now->boolean(0, 2)) return Log{now->integer(0, 1), now->integer(0, 0), now->integer(0, 3)};
    // Promoted a moment later, it would be served although nobody has adopted it.
    return Error{Remedy::wait, "the server is a standby: messages could never be settled on it"};
}

}  // namespace

std::int64_t lane_lock(const Names& names, std::int64_t destination, std::int64_t lane) {
    const std::string what = "outrider lane " + names.schema() + "/" + std::to_string(destination);
    return order_key(Order::key, what, std::to_string(lane), 0);
}

std::int64_t serving_lock(const Names& names, std::int64_t destination) {
    return lane_lock(names, destination, -1);
}

std::int64_t registration_lock(const Names& names, std::string_view destination) {
    return order_key(Order::key, "outrider registration " + names.schema(), destination, 0);
}

std::string with_register_lock(std::string_view sql, const Names& names) {
    return Names::fill(sql, "register_lock", std::to_string(lane_lock(names, 0, -4)));
}

Result<Registered> register_destination(
    const Connection& connection,
    const Names& names,
    const Destination& destination,
    TopicLists& lists
) {
    if (Result<void> current = check_schema(connection, names); !current) return current.error();
    if (Result<void> ours = check_identity(connection, names); !ours) return ours.error();
    const Result<Log> log = read_log(connection, names);
    if (!log) return log.error();
    Result<Known> known = find(connection, names, destination);
    if (!known) return known.error();
    if (!is_complete(*known, destination)) {
        known = find_or_add_alone(connection, names, destination, *log, lists);
    } else if (Result<void> same = check_order(*known, destination, log->lanes); !same) {
        return same.error();
    }
    if (!known) return known.error();
    lists.remember(destination);
    return Registered{known->id, log->lanes, log->origin, known->newest};
}

}  // namespace outrider::postgres
