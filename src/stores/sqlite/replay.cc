#include "stores/sqlite/replay.h"

#include "core/clock.h"
#include "core/hash.h"
#include "core/topics.h"
#include "stores/shared/topic_list.h"
#include "stores/sqlite/sql.h"

namespace outrider::sqlite {
namespace {

// What the store remembers of a destination, as far as a replay needs it.
struct Known {
    std::int64_t id = 0;
    std::vector<std::string> topics;
    Order order = Order::key;
};

Order order_of(std::string_view text) {
    for (const Order order : {Order::none, Order::global}) {
        if (text == to_string(order)) return order;
    }
    return Order::key;
}

Result<std::optional<Known>> find(const Connection& connection, const std::string& name) {
    Result<Statement> find = connection.prepare(sql::find_destination);
    if (!find) return find.error();
    const Result<bool> row = find->bind(1, name).step();
    if (!row) return row.error();
    if (!*row) return std::optional<Known>{};
    return std::optional(Known{
        find->integer(0), read_topics(find->text(1)), order_of(find->text(2))});
}

// Lets passed messages wait again, due now.
class Parker {
public:
    Parker(const Connection& connection, std::int64_t destination, WallTime now)
        : connection_(connection),
          destination_(destination),
          now_(to_millis(now)) {}

    [[nodiscard]] Result<void> prepare() {
        for (const auto& [statement, text] :
             {std::pair{&park_, sql::settle_park}, std::pair{&refresh_, sql::refresh_key}}) {
            Result<Statement> prepared = connection_.prepare(text);
            if (!prepared) return prepared.error();
            *statement = std::move(prepared).value();
        }
        return {};
    }

    [[nodiscard]] Result<void> park(std::int64_t seq, OrderKey key) {
        park_.bind(1, destination_).bind(2, seq).bind(3, key).bind(4, std::int64_t{0});
        park_.bind(5, std::optional<std::int64_t>{}).bind(6, now_).bind(7, "replayed");
        if (const Result<std::int64_t> done = park_.run(); !done) return done.error();
        const Result<std::int64_t> done = refresh_.bind(1, destination_).bind(2, key).run();
        if (!done) return done.error();
        return {};
    }

private:
    const Connection& connection_;
    const std::int64_t destination_;
    const std::int64_t now_;
    Statement park_;
    Statement refresh_;
};

Result<Statement> matching_rows(
    const Connection& connection,
    std::int64_t destination,
    const ReplayFilter& filter
) {
    Result<Statement> rows = connection.prepare(sql::replay_rows);
    if (!rows) return rows;
    rows->bind(1, destination).bind(2, filter.from_seq);
    rows->bind(3, filter.from_time ? std::optional(to_millis(*filter.from_time)) : std::nullopt);
    if (filter.key) rows->bind(4, *filter.key);
    return rows;
}

// Reads row by row, and parks each that fits unless it is only to be counted.
Result<std::uint64_t> walk(
    Statement& rows,
    const Known& known,
    const ReplayFilter& filter,
    Parker* parker
) {
    std::uint64_t count = 0;
    for (;;) {
        const Result<bool> row = rows.step();
        if (!row) return row.error();
        if (!*row) return count;
        const std::string_view topic = rows.text(1);
        if (!matches_any(known.topics, topic)) continue;
        if (filter.topic && !matches(*filter.topic, topic)) continue;
        ++count;
        if (parker == nullptr) continue;
        const std::int64_t seq = rows.integer(0);
        const OrderKey key = order_key(known.order, topic, rows.text(2), seq);
        if (Result<void> parked = parker->park(seq, key); !parked) return parked.error();
    }
}

}  // namespace

Result<std::optional<std::uint64_t>> replay_history(
    const Connection& connection,
    const ReplayFilter& filter,
    const ReplayHow& how
) {
    Result<Transaction> transaction =
        Transaction::begin(connection, how.dry_run ? "begin" : "begin immediate");
    if (!transaction) return transaction.error();
    const Result<std::optional<Known>> known = find(connection, filter.destination);
    if (!known) return known.error();
    if (!*known) return std::optional<std::uint64_t>{};
    Parker parker(connection, (*known)->id, how.now);
    if (Result<void> prepared = parker.prepare(); !prepared) return prepared.error();
    Result<std::uint64_t> count = std::uint64_t{0};
    {
        Result<Statement> rows = matching_rows(connection, (*known)->id, filter);
        if (!rows) return rows.error();
        count = walk(*rows, **known, filter, how.dry_run ? nullptr : &parker);
    }
    if (!count) return count.error();
    if (Result<void> committed = transaction->commit(); !committed) return committed.error();
    return std::optional(*count);
}

}  // namespace outrider::sqlite
