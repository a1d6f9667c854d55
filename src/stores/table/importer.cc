#include "stores/table/importer.h"

#include "stores/postgres/admin.h"
#include "stores/postgres/names.h"
#include "stores/table/sql.h"

namespace outrider::table {
namespace {

using postgres::Connection;
using postgres::Rows;

class Importer {
public:
    Importer(
        Connection& connection,
        const Wording& wording,
        const Destination& rules,
        std::string log
    )
        : connection_(connection),
          wording_(wording),
          rules_(rules),
          parts_{
              {"log", std::move(log)},
              {"oid", std::to_string(wording.facts().oid)},
              {"new_id", "new." + quote_name(wording.layout().id)},
              {"one_id", "one." + quote_name(wording.layout().id)}} {}

    Result<ImportReport> run(const ImportWishes& wishes) {
        Result<ImportReport> report = try_run(wishes);
        if (!report) {
            [[maybe_unused]] const Result<void> undone = connection_.run_script("rollback");
        }
        return report;
    }

private:
    [[nodiscard]] std::string fill(std::string_view sql) const {
        return wording_.fill(sql, rules_, parts_);
    }

    // One key in several topics would be delivered out of order, and nobody would be told.
    Result<void> refuse_split_keys() {
        const Result<Rows> split = connection_.run(fill(sql::import_split));
        if (!split) return split.error();
        if (split->integer(0, 0) == 0) return {};
        return Error{
            Remedy::correct,
            "pending rows of " + std::to_string(split->integer(0, 0)) +
                " keys have several topics (such as key '" + std::string(split->bytes(0, 1)) +
                "'). The table keeps a key in order across topics, the log each topic of it by "
                "itself, unless a destination has order = \"global\". Let the relay empty the "
                "table first, or accept that with --order-per-topic; nothing was changed"};
    }

    // The server names the limit that a row breaks, and not the row.
    Error culprit(const Error& error) {
        if (error.remedy != Remedy::correct) return error;
        const Result<void> found =
            connection_.run_script("rollback; begin; " + fill(sql::import_find) + "; rollback");
        // It says so itself: a permission that is missing is no row's fault.
        const bool names_row =
            !found && found.error().text.find("the row with id ") != std::string::npos;
        if (!names_row) return error;
        return {
            Remedy::correct,
            found.error().text +
                "\nChange, settle or delete it in the table; until then nothing is moved"};
    }

    Result<ImportReport> try_run(const ImportWishes& wishes) {
        Result<void> locked = connection_.run_script(
            "begin; set local lock_timeout = '30s'; " + fill(sql::import_lock)
        );
        if (!locked) return locked.error();
        if (rules_.order == Order::key && !wishes.order_per_topic) {
            if (Result<void> whole = refuse_split_keys(); !whole) return whole.error();
        }
        const Result<void> trigger = connection_.run_script(
            wishes.forwards ? fill(sql::import_trigger)
                            : fill("drop trigger if exists outrider_forward on {table}")
        );
        if (!trigger) return trigger.error();
        const Result<Rows> moved = connection_.run(fill(sql::import_rows));
        if (!moved) return culprit(moved.error());
        const Result<Rows> settled = connection_.run(fill(sql::import_settle));
        if (!settled) return settled.error();
        if (moved->changed() != settled->changed()) {
            return Error{
                Remedy::call,
                "of " + std::to_string(moved->changed()) + " rows only " +
                    std::to_string(settled->changed()) +
                    " could be settled in the table (a rule or a trigger of its own?): nothing was "
                    "changed"};
        }
        const Result<Rows> left = connection_.run(fill(sql::import_left));
        if (!left) return left.error();
        if (Result<void> done = connection_.run_script("commit"); !done) return done.error();
        return ImportReport{
            static_cast<std::uint64_t>(moved->changed()),
            static_cast<std::uint64_t>(left->integer(0, 0)),
            static_cast<std::uint64_t>(left->integer(0, 1))};
    }

    Connection& connection_;
    const Wording& wording_;
    const Destination& rules_;
    const Wording::Parts parts_;
};

Result<void> make_log(const postgres::StoreOptions& log) {
    const Result<std::unique_ptr<StoreAdmin>> admin = postgres::PostgresAdmin::open(log);
    if (!admin) return admin.error();
    const Result<SchemaVersion> version = (*admin)->migrate();
    if (!version) return version.error();
    if (version->installed == version->newest) return {};
    return Error{Remedy::upgrade, "the log is newer than this build: use a newer outrider"};
}

}  // namespace

Result<ImportReport> import_table(
    const TablePlace& place,
    const postgres::StoreOptions& log,
    const Destination& rules,
    const ImportWishes& wishes
) {
    const Result<postgres::Names> names = postgres::Names::of(log.schema);
    if (!names) return names.error();
    Result<Connection> connection = Connection::open(place.conninfo, Connection::Path::user);
    if (!connection) return connection.error();
    const Result<Facts> facts = find_facts(*connection, place.layout);
    if (!facts) return facts.error();
    if (Result<void> made = make_log(log); !made) return made.error();
    const Wording wording(place.layout, *facts);
    return Importer(*connection, wording, rules, quote_name(names->schema())).run(wishes);
}

}  // namespace outrider::table
