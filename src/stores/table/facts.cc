#include "stores/table/facts.h"

#include <set>

#include "stores/table/sql.h"

namespace outrider::table {
namespace {

using postgres::Connection;
using postgres::Parameters;
using postgres::Rows;

// Columns of find_table.sql.
enum TableColumn : int {
    kOid,
    kSchema,
    kName,
    kKind,
    kInRecovery,
    kMaySelect,
    kMayUpdate,
    kMayDelete,
    kMayLock,
    kLocks,
};

std::string full_name(const Layout& layout) {
    const std::string schema = layout.schema.empty() ? "" : quote_name(layout.schema) + ".";
    return schema + quote_name(layout.table);
}

// Collects what is wrong with a table.
class Complaints {
public:
    void add(const std::string& text) { text_ += (text_.empty() ? "" : "; ") + text; }
    [[nodiscard]] bool empty() const { return text_.empty(); }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::string text_;
};

// What a type must be for a column to serve as what it is configured for.
struct Demand {
    std::string_view option;
    std::set<std::string_view> types;
    std::string_view wanted;
    char category = 0;  // any type of it will do as well

    [[nodiscard]] bool fits(const Column& column) const {
        return types.contains(column.type) || column.category == category;
    }
};

const std::vector<Demand>& demands() {
    static const std::vector<Demand> all = {
        {"done_at", {"timestamptz", "timestamp"}, "a timestamp"},
        {"due", {"timestamptz", "timestamp"}, "a timestamp"},
        {"flag", {"bool"}, "a boolean"},
        {"attempts", {"int2", "int4", "int8"}, "an integer"},
        {"headers", {"json", "jsonb", "text", "varchar"}, "json, jsonb or text"},
        {"payload",
         {"bytea", "json", "jsonb", "text", "varchar", "bpchar", "xml"},
         "bytea, json, jsonb or text"},
        {"error", {}, "a text", 'S'},
    };
    return all;
}

void check_column(const NamedColumn& named, const Facts& facts, Complaints& complaints) {
    const std::string option = "store.table." + std::string(named.option);
    const auto found = facts.columns.find(*named.column);
    if (found == facts.columns.end()) {
        return complaints.add(
            "there is no column " + quote_name(*named.column) + " (" + option +
            "; write \"-\" if the table has none)"
        );
    }
    for (const Demand& demand : demands()) {
        if (demand.option != named.option || demand.fits(found->second)) continue;
        complaints.add(
            "column " + quote_name(*named.column) + " (" + option + ") is " +
            found->second.full_type + ", not " + std::string(demand.wanted)
        );
    }
}

// Without an id a row is no message, and a relay that met one could not go on.
void check_id(const Layout& layout, const Facts& facts, Complaints& complaints) {
    if (!facts.columns.contains(layout.id) || facts.column(layout.id).not_null) return;
    const std::string id = quote_name(layout.id);
    complaints.add(
        "column " + id + " (store.table.id) may be null: alter table " + full_name(layout) +
        " alter column " + id + " set not null"
    );
}

void check_permissions(const Rows& rows, const Layout& layout, Complaints& complaints) {
    const bool erases = layout.done == Done::erase || layout.retention > Duration::zero();
    const bool writes = layout.done != Done::erase || layout.can_bury() || !layout.due.empty() ||
                        !layout.error.empty();
    if (!rows.boolean(0, kMaySelect)) complaints.add("this user may not SELECT from it");
    if (erases && !rows.boolean(0, kMayDelete)) complaints.add("this user may not DELETE from it");
    if (writes && !rows.boolean(0, kMayUpdate)) complaints.add("this user may not UPDATE it");
    if (!writes && !rows.boolean(0, kMayLock)) {
        complaints.add(
            "this user may not lock its rows, for which the server wants UPDATE on at least one "
            "column: grant update (" +
            quote_name(layout.id) + ") on " + full_name(layout)
        );
    }
}

Result<void> read_columns(const Connection& connection, Facts& facts) {
    const Result<Rows> rows =
        connection.run(std::string(sql::find_columns), Parameters().add(facts.oid));
    if (!rows) return rows.error();
    for (int row = 0; row < rows->count(); ++row) {
        Column column;
        column.type = rows->bytes(row, 1);
        column.full_type = rows->bytes(row, 2);
        column.not_null = rows->boolean(row, 3);
        column.category = rows->bytes(row, 4).empty() ? 'U' : rows->bytes(row, 4)[0];
        facts.columns.emplace(rows->bytes(row, 0), std::move(column));
    }
    return {};
}

// Asks the database what keeps a column from holding a value: why not, or null. A value that its
// type does not know is an error of the statement.
std::string probe_of(
    const std::string& column,
    const Column& type,
    const Rows& checks,
    const std::string& value
) {
    std::string sql = "select case when false then ''";
    if (type.category == 'S') {
        sql += " when t." + quote_name(column) + "::text <> " + quote_text(value) +
               " then 'it is ' || " + quote_text(type.full_type);
    }
    for (int row = 0; row < checks.count(); ++row) {
        const std::string name = quote_name(checks.bytes(row, 0));
        sql += " when not (" + std::string(checks.bytes(row, 1)) + ") then " +
               quote_text("the table's check " + name + " excludes it");
    }
    return sql + " end from (select " + quote_text(value) + "::" + type.full_type + " as " +
           quote_name(column) + ") t";
}

// A status that cannot be written would show when the first batch has been delivered.
class StatusCheck {
public:
    StatusCheck(
        const Connection& connection,
        const Layout& layout,
        const Facts& facts,
        Complaints& complaints
    )
        : connection_(connection),
          layout_(layout),
          facts_(facts),
          complaints_(complaints) {}

    Result<void> run() {
        if (!facts_.columns.contains(layout_.status)) return {};
        const Result<Rows> checks = connection_.run(
            std::string(sql::find_checks),
            Parameters().add(facts_.oid).add(std::string_view(layout_.status))
        );
        if (!checks) return checks.error();
        const bool writes_done = layout_.done == Done::status;
        Result<void> tried = try_value("status_pending", layout_.status_pending, *checks);
        if (tried && writes_done) tried = try_value("status_done", layout_.status_done, *checks);
        if (tried) tried = try_value("status_dead", layout_.status_dead, *checks);
        return tried;
    }

private:
    Result<void> try_value(std::string_view option, const std::string& value, const Rows& checks) {
        if (value.empty()) return {};
        const Column& type = facts_.column(layout_.status);
        const Result<Rows> found = connection_.run(probe_of(layout_.status, type, checks, value));
        if (!found && found.error().remedy != Remedy::correct) return found.error();
        if (found && found->is_null(0, 0)) return {};
        const std::string why =
            found ? std::string(found->bytes(0, 0)) : first_line(found.error().text);
        complaints_.add(
            "column " + quote_name(layout_.status) + " cannot hold '" + value + "' (store.table." +
            std::string(option) + "): " + why + "; set a value that it takes"
        );
        return {};
    }

    static std::string first_line(const std::string& text) {
        return text.substr(0, text.find('\n'));
    }

    const Connection& connection_;
    const Layout& layout_;
    const Facts& facts_;
    Complaints& complaints_;
};

std::string column_list(const Facts& facts) {
    std::string text;
    for (const auto& [name, column] : facts.columns) text += (text.empty() ? "" : ", ") + name;
    return text;
}

}  // namespace

const Column& Facts::column(std::string_view name) const {
    static const Column none;
    const auto found = columns.find(name);
    return found == columns.end() ? none : found->second;
}

Result<Facts> find_facts(const Connection& connection, const Layout& layout) {
    const std::string name = full_name(layout);
    const Result<Rows> rows =
        connection.run(std::string(sql::find_table), Parameters().add(std::string_view(name)));
    if (!rows) return rows.error();
    if (rows->count() == 0) {
        return Error{
            Remedy::correct,
            "there is no table " + name +
                " in this database: check store.url and store.table.name"};
    }
    if (rows->boolean(0, kInRecovery)) {
        return Error{Remedy::wait, "the server is a standby: rows cannot be locked there"};
    }
    Facts facts;
    facts.oid = rows->integer(0, kOid);
    facts.schema = rows->bytes(0, kSchema);
    facts.table = rows->bytes(0, kName);
    facts.locks = rows->integer(0, kLocks);
    const std::string_view kind = rows->bytes(0, kKind);
    facts.partitioned = kind == "p";
    if (Result<void> read = read_columns(connection, facts); !read) return read.error();
    Complaints complaints;
    if (kind != "r" && !facts.partitioned)
        complaints.add("it is no table (views cannot be relayed)");
    for (const NamedColumn& named : named_columns(layout)) check_column(named, facts, complaints);
    check_id(layout, facts, complaints);
    check_permissions(*rows, layout, complaints);
    Result<void> checked = StatusCheck(connection, layout, facts, complaints).run();
    if (!checked) return checked.error();
    if (complaints.empty()) return facts;
    return Error{
        Remedy::correct,
        "the table " + name + " does not fit: " + complaints.text() + ". Its columns are " +
            column_list(facts)};
}

}  // namespace outrider::table
