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
        std::string(rows->bytes(0, 4))};
}

// In read committed, whatever the database's default is: two that start at once register the same
// rows, and in repeatable read one of them would fail.
Result<Rows> write(
    const Connection& connection,
    const std::string& sql,
    const Parameters& parameters
) {
    const Result<void> begun = connection.run_script("begin isolation level read committed");
    if (!begun) return begun.error();
    Result<Rows> rows = connection.run(sql, parameters);
    const Result<void> ended = connection.run_script(rows ? "commit" : "rollback");
    if (rows && !ended) return ended.error();
    return rows;
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

// Finds the destination, or makes it known, with our topics: the newest registration wins, and ours
// is made once. One that is refused has changed nothing.
Result<Known> find_or_add(
    const Connection& connection,
    const Names& names,
    const Destination& destination,
    std::int64_t lanes,
    TopicLists& lists
) {
    Result<Known> known = find(connection, names, destination);
    if (!known) return known;
    if (Result<void> same = check_order(*known, destination, lanes); !same) return same.error();
    if (known->id == 0 || !known->is_same || known->ordering != to_string(destination.order)) {
        if (known->id != 0 && !known->is_same) {
            const Result<void> may = lists.may_replace(destination, known->topics);
            if (!may) return may.error();
        }
        const Result<Rows> inserted = write(
            connection,
            names.fill(sql::register_destination),
            Parameters()
                .add(std::string_view(destination.name))
                .add(std::string_view(topics_json(destination.topics)))
                .add(to_string(destination.order))
        );
        if (!inserted) return inserted.error();
        known = find(connection, names, destination);
    }
    if (known) lists.remember(destination);
    return known;
}

Result<void> add_cursors(
    const Connection& connection,
    const Names& names,
    const Destination& destination,
    const Registered& registered,
    std::int64_t floor
) {
    // Drawn and completed between the floor and the snapshot: every id at or above the snapshot's
    // xmax then has numbers above the floor.
    const Result<Rows> drawn = connection.run("select pg_current_xact_id()");
    if (!drawn) return drawn.error();
    const Result<Rows> added = write(
        connection,
        names.fill(sql::register_cursors),
        Parameters()
            .add(registered.id)
            .add(cursors_of(destination, registered.lanes))
            .add(destination.start == Start::now)
            .add(floor)
    );
    if (!added) return added.error();
    return {};
}

}  // namespace

std::int64_t lane_lock(const Names& names, std::int64_t destination, std::int64_t lane) {
    const std::string what = "outrider lane " + names.schema() + "/" + std::to_string(destination);
    return order_key(Order::key, what, std::to_string(lane), 0);
}

std::int64_t serving_lock(const Names& names, std::int64_t destination) {
    return lane_lock(names, destination, -1);
}

Result<Registered> register_destination(
    const Connection& connection,
    const Names& names,
    const Destination& destination,
    TopicLists& lists
) {
    if (Result<void> current = check_schema(connection, names); !current) return current.error();
    if (Result<void> ours = check_identity(connection, names); !ours) return ours.error();
    const Result<Rows> now = connection.run(names.fill(sql::last_number));
    if (!now) return now.error();
    Registered registered;
    registered.lanes = now->integer(0, 1);
    const Result<Known> known =
        find_or_add(connection, names, destination, registered.lanes, lists);
    if (!known) return known.error();
    registered.id = known->id;
    if (known->cursors != 0) return registered;
    const Result<void> added =
        add_cursors(connection, names, destination, registered, now->integer(0, 0));
    if (!added) return added.error();
    return registered;
}

}  // namespace outrider::postgres
