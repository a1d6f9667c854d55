#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "outrider/brokers.h"
#include "outrider/destination.h"
#include "outrider/time.h"

// For applications that have an outbox table of their own in PostgreSQL, and keep it as it is.
namespace outrider {

class StoreDriver;

namespace table {

// What an existing outbox table looks like. Every text names a column, unless it says otherwise.
// Empty: as the preset has it. "-": the table has no such column, whatever the preset says. Names
// are taken as they are written, capital letters included.
struct TableOptions {
    // A schema that people have: outbox-messages, outbox-events, efcore, onward, debezium or
    // open-outbox. Empty: everything is named below.
    std::string preset;

    // The table: outbox_messages, shop.outbox_messages, "Shop"."Outbox.Messages".
    std::string name;

    // What a message is made of. `id`, `topic` and `payload` must be there, and no id be null.
    std::string id;
    std::string topic;
    std::string key;  // what it is ordered by, whatever its topic
    std::string type;
    std::string payload;
    std::string content_type;
    std::string headers;  // a JSON object

    // Oldest first by this, then by id. Without it by id alone, so ids should rise.
    std::string created;

    // Not before this moment; written when a message has to wait for another try. Without it the
    // relay remembers the wait, and forgets it when it ends.
    std::string due;

    // How a delivered row is settled: "delete", or marked by "timestamp", "status" or "flag".
    std::string done;

    // done = "timestamp": null while pending. Written with "status" and "flag", too, if it is
    // there.
    std::string done_at;

    // done = "status": the column, and its values (not columns) for a row that is pending,
    // delivered and given up. The last may be missing; with it `status_pending` is needed whatever
    // `done` is, for rows that are replayed.
    std::string status;
    std::string status_pending;
    std::string status_done;
    std::string status_dead;

    // done = "flag": true when delivered.
    std::string flag;

    // How often the row was refused. Without it, and without `status_dead`, nothing ever dies.
    std::string attempts;

    // Why it was refused last. For people; nothing depends on it.
    std::string error;

    // "batch": one statement for all rows of a turn (default). "row": one for each,
    // which is slower.
    std::string settle;

    // Delivered rows older than this are deleted, in small pieces. 0: never (default).
    Duration retention = Duration::zero();

    bool operator==(const TableOptions&) const = default;
};

// The table behind this conninfo (anything libpq takes), for a relay. Throws Failure (correct) if
// the options make no sense; what the table itself lacks is said when it is opened.
[[nodiscard]] std::shared_ptr<StoreDriver> open_store(
    std::string conninfo,
    const TableOptions& options
);

// What became of a row that was dispatched by its id.
enum class Dispatched : std::uint8_t {
    delivered,  // and settled
    elsewhere,  // somebody else has it or its key, or an earlier row of its key waits: the relay
                // will carry it
    gone,       // no such row is pending: it was delivered already, or never committed
    refused,    // by the broker; the row is left for the relay, charged as any refusal
    unknown,    // the broker or the database did not answer: the relay will carry it
    invalid,    // no row can have this id: it is no value of the id column's type
};

[[nodiscard]] std::string_view to_string(Dispatched outcome);

// Delivers single rows right after their commit, for a service that does not want to wait for the
// relay, with a connection to database and broker of its own. Takes the same locks as the relay: a
// row is delivered by one of them. One thread at a time.
//
//     const outrider::table::TableOptions table{.preset = "outbox-messages"};
//     outrider::table::Dispatcher dispatcher(conninfo, table, orders, kafka);
//     ... insert into outbox_messages ...; commit ...
//     dispatcher.dispatch(id);
class Dispatcher {
public:
    // Neither the database nor the broker needs to be there yet. Throws Failure (correct).
    Dispatcher(
        const std::string& conninfo,
        const TableOptions& options,
        const Destination& destination,
        std::shared_ptr<BrokerDriver> broker
    );
    ~Dispatcher();
    Dispatcher(const Dispatcher&) = delete;
    Dispatcher& operator=(const Dispatcher&) = delete;

    // `id`: the value of the id column, as text; of several rows that have it the oldest goes, and
    // the others with the next call or by the relay. Never throws: the row is committed, and
    // whatever goes wrong here, the relay carries it. error() says what went wrong.
    Dispatched dispatch(std::string_view id) noexcept;

    // The reason of the last outcome but delivered; may be empty.
    [[nodiscard]] const std::string& error() const;

private:
    class Body;
    std::unique_ptr<Body> body_;
};

}  // namespace table
}  // namespace outrider
