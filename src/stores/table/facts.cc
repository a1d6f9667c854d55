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
        if (demand.option != named.option || demand.types.contains(found->second.type)) continue;
        complaints.add(
            "column " + quote_name(*named.column) + " (" + option + ") is " +
            found->second.full_type + ", not " + std::string(demand.wanted)
        );
    }
}

void check_permissions(const Rows& rows, const Layout& layout, Complaints& complaints) {
    const bool erases = layout.done == Done::erase || layout.retention > Duration::zero();
    const bool writes = layout.done != Done::erase || layout.can_bury() || !layout.due.empty();
    if (!rows.boolean(0, kMaySelect)) complaints.add("this user may not SELECT from it");
    // A row lock needs one of the two as well.
    if (erases && !rows.boolean(0, kMayDelete)) complaints.add("this user may not DELETE from it");
    if (writes && !rows.boolean(0, kMayUpdate)) complaints.add("this user may not UPDATE it");
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
    if (Result<void> read = read_columns(connection, facts); !read) return read.error();
    Complaints complaints;
    const std::string_view kind = rows->bytes(0, kKind);
    if (kind != "r" && kind != "p") complaints.add("it is no table (views cannot be relayed)");
    for (const NamedColumn& named : named_columns(layout)) check_column(named, facts, complaints);
    check_permissions(*rows, layout, complaints);
    if (complaints.empty()) return facts;
    return Error{
        Remedy::correct,
        "the table " + name + " does not fit: " + complaints.text() + ". Its columns are " +
            column_list(facts)};
}

}  // namespace outrider::table
