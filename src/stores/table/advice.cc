#include "stores/table/advice.h"

#include "stores/table/sql.h"

namespace outrider::table {

using postgres::ArrayText;
using postgres::Parameters;
using postgres::Rows;

std::string index_statement(const Wording& wording) {
    const std::string pending = wording.pending("");
    const std::string where = pending == "true" ? "" : " where " + pending;
    const std::string how = wording.facts().partitioned ? "" : "concurrently ";
    return "create index " + how + "on " + wording.table() + " (" + wording.order("") + ")" + where;
}

namespace {

Advice about_order(const Layout& layout) {
    const std::string by = layout.created.empty() ? layout.id : layout.created;
    return {
        "the order of this table is that of its column " + quote_name(by) +
            ": a transaction that commits late is overtaken by rows that were written after it and "
            "committed before it. The log layout has no such hole ('outrider import')",
        {}};
}

// The columns that say when, without saying where.
std::string times_without_zone(const Wording& wording) {
    const Layout& layout = wording.layout();
    std::string names;
    for (const std::string* name : {&layout.created, &layout.due, &layout.done_at}) {
        if (wording.facts().column(*name).type != "timestamp") continue;
        names += (names.empty() ? "" : ", ") + quote_name(*name);
    }
    return names;
}

Result<void> add_about_zone(
    const postgres::Connection& connection,
    const Wording& wording,
    std::vector<Advice>& all
) {
    const std::string names = times_without_zone(wording);
    if (names.empty()) return {};
    const Result<Rows> zone = connection.run("select current_setting('TimeZone')");
    if (!zone) return zone.error();
    all.push_back(
        {"times without a time zone (" + names + ") are taken to be in that of this session, " +
             std::string(zone->bytes(0, 0)) +
             ", as the table's own now() writes them: if the application writes another, set it "
             "in store.url (options=-c TimeZone=UTC)",
         {}}
    );
    return {};
}

// A partitioned table has such an index only where it is partitioned by the id, so nobody is urged.
Advice about_id(const Wording& wording) {
    const std::string id = quote_name(wording.layout().id);
    const bool partitioned = wording.facts().partitioned;
    return {
        "no unique index is on the column " + id +
            " (store.table.id) alone: rows with the same id go out as one message, under one "
            "message id, so that a consumer drops all but the first, and dead letters with it are "
            "replayed and discarded together",
        partitioned ? ""
                    : "create unique index concurrently on " + wording.table() + " (" + id + ")",
        partitioned ? Gravity::hint : Gravity::warning};
}

}  // namespace

Result<std::optional<Advice>> advise_on_id(
    const postgres::Connection& connection,
    const Wording& wording
) {
    const Result<Rows> found = connection.run(
        std::string(sql::find_unique),
        Parameters().add(wording.facts().oid).add(std::string_view(wording.layout().id))
    );
    if (!found) return found.error();
    if (found->boolean(0, 0)) return std::optional<Advice>();
    return std::optional(about_id(wording));
}

Result<std::vector<Advice>> advise(const postgres::Connection& connection, const Wording& wording) {
    const Layout& layout = wording.layout();
    ArrayText columns;
    if (!layout.created.empty()) columns.add(std::string_view(layout.created));
    columns.add(std::string_view(layout.id));
    const Result<Rows> found = connection.run(
        std::string(sql::find_index),
        Parameters().add(wording.facts().oid).add(std::string_view(columns.text()))
    );
    if (!found) return found.error();
    std::vector<Advice> all;
    if (!found->boolean(0, 0)) {
        all.push_back(
            {"no index gives the pending rows oldest first: every claim reads and sorts all of "
             "them" +
                 std::string(wording.facts().partitioned ? " (writers wait while it is made)" : ""),
             index_statement(wording)}
        );
    }
    const Result<std::optional<Advice>> on_id = advise_on_id(connection, wording);
    if (!on_id) return on_id.error();
    if (*on_id) all.push_back(**on_id);
    all.push_back(about_order(layout));
    if (!layout.key.empty()) {
        all.push_back(
            {"whoever delivers a row by itself must hold its key: pg_try_advisory_xact_lock("
             "hashtextextended(" +
                 quote_name(layout.key) + "::text, " + std::to_string(wording.seed()) + "))",
             {}}
        );
    }
    if (!layout.can_bury()) {
        all.push_back(
            {"the table has no column for attempts and no status for what is dead: a message that "
             "is "
             "refused is tried for ever and holds back its key",
             {}}
        );
    }
    if (layout.created.empty() && wording.facts().column(layout.id).type == "uuid") {
        all.push_back(
            {"the table has no time column (store.table.created), and ids of type uuid need not "
             "rise: its order may be that of chance",
             {}}
        );
    }
    if (Result<void> added = add_about_zone(connection, wording, all); !added) return added.error();
    all.push_back(
        {"rows are locked while the broker answers, and delivered rows stay behind as dead "
         "versions "
         "until a vacuum: an old snapshot slows this layout down, and the log not",
         {}}
    );
    return all;
}

}  // namespace outrider::table
