#include "stores/table/wording.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/assert.h"
#include "core/hash.h"
#include "stores/postgres/status.h"

namespace outrider::table {
namespace {

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
    std::string text;
    for (const std::string& part : parts) {
        if (!text.empty()) text += between;
        text += part;
    }
    return text;
}

// A UUID for an id that is none: the first 16 bytes of a SHA-256 over table and id, marked as
// version 8. The same for a row as long as table and id keep their names.
constexpr std::string_view kHashedId =
    "overlay(overlay(left(encode(sha256(convert_to({place} || {id}::text, 'UTF8')), 'hex'), 32)"
    " placing '8' from 13 for 1) placing 'a' from 17 for 1)::uuid";

constexpr std::string_view kUuidPattern =
    "'^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'";

// In one pass: what is filled in is never looked at again, so a column called "{key}" stays one.
std::string substitute(
    std::string_view sql,
    const std::map<std::string, std::string, std::less<>>& parts
) {
    std::string text;
    while (!sql.empty()) {
        const std::size_t open = std::min(sql.find('{'), sql.size());
        text += sql.substr(0, open);
        sql.remove_prefix(open);
        const std::size_t close = sql.find('}');
        if (close == std::string_view::npos) break;
        const auto part = parts.find(sql.substr(1, close - 1));
        OUTRIDER_ASSERT(part != parts.end());
        text += part->second;
        sql.remove_prefix(close + 1);
    }
    return text.append(sql);
}

std::int64_t limit_of(std::string_view type) {
    if (type == "int2") return std::numeric_limits<std::int16_t>::max();
    return std::numeric_limits<std::int32_t>::max();
}

}  // namespace

Wording::Wording(Layout layout, Facts facts)
    : layout_(std::move(layout)),
      facts_(std::move(facts)) {
}

std::string Wording::table() const {
    const std::string schema = facts_.schema.empty() ? "" : quote_name(facts_.schema) + ".";
    return schema + quote_name(facts_.table);
}

std::string Wording::column(const std::string& name) const {
    return "t." + quote_name(name);
}

std::string Wording::text(const std::string& name) const {
    return name.empty() ? "null::text" : column(name) + "::text";
}

// What has no time zone is in that of the session, where the column's own default now() wrote it.
std::string Wording::moment(const std::string& name) const {
    if (name.empty()) return "null::timestamptz";
    const std::string& type = facts_.column(name).type;
    if (type == "timestamptz") return column(name);
    if (type == "timestamp") return column(name) + "::timestamptz";
    return "null::timestamptz";
}

std::string Wording::now_for(const std::string& name) const {
    const bool zoned = facts_.column(name).type == "timestamptz";
    return zoned ? "clock_timestamp()" : "clock_timestamp()::timestamp";
}

std::string Wording::message_id() const {
    const std::string& type = facts_.column(layout_.id).type;
    if (type == "uuid") return column(layout_.id);
    const std::string place = quote_text(facts_.schema + "." + facts_.table + "/");
    std::string hashed = substitute(kHashedId, {{"place", place}, {"id", column(layout_.id)}});
    if (facts_.column(layout_.id).category != 'S') return hashed;
    return "case when " + text(layout_.id) + " ~ " + std::string(kUuidPattern) + " then " +
           text(layout_.id) + "::uuid else " + hashed + " end";
}

std::string Wording::payload() const {
    const bool bytes = facts_.column(layout_.payload).type == "bytea";
    return bytes ? column(layout_.payload) : text(layout_.payload);
}

std::string Wording::bytes() const {
    const bool plain = facts_.column(layout_.payload).type == "bytea";
    const std::string value =
        plain ? column(layout_.payload) : "convert_to(" + text(layout_.payload) + ", 'UTF8')";
    return "coalesce(" + value + ", ''::bytea)";
}

// Without reading what is stored out of line: json counts as it is stored, which may be less.
std::string Wording::stored() const {
    const std::string& type = facts_.column(layout_.payload).type;
    const bool plain = type == "bytea" || type == "text" || type == "varchar";
    const std::string measure = plain ? "octet_length(" : "pg_column_size(";
    return "coalesce(" + measure + column(layout_.payload) + "), 0)";
}

std::string Wording::content_type() const {
    if (!layout_.content_type.empty()) return text(layout_.content_type);
    const std::string& type = facts_.column(layout_.payload).type;
    return type == "json" || type == "jsonb" ? "'application/json'::text" : "null::text";
}

std::string Wording::attempts() const {
    if (layout_.attempts.empty()) return "0::bigint";
    return "coalesce(" + column(layout_.attempts) + ", 0)::bigint";
}

std::string Wording::pending(std::string_view row) const {
    const std::string prefix(row);
    switch (layout_.mark()) {
        case Done::erase:
            break;
        case Done::timestamp:
            return prefix + quote_name(layout_.done_at) + " is null";
        case Done::status:
            return prefix + quote_name(layout_.status) + " = " + quote_text(layout_.status_pending);
        case Done::flag:
            return prefix + quote_name(layout_.flag) + " is not true";
    }
    if (layout_.status_dead.empty()) return "true";
    return prefix + quote_name(layout_.status) + " is distinct from " +
           quote_text(layout_.status_dead);
}

std::string Wording::done() const {
    switch (layout_.done) {
        case Done::erase:
            return "false";
        case Done::timestamp:
            return column(layout_.done_at) + " is not null";
        case Done::status:
            return column(layout_.status) + " = " + quote_text(layout_.status_done);
        case Done::flag:
            return column(layout_.flag) + " is true";
    }
    return "false";
}

// Only a status can say something else.
std::string Wording::odd() const {
    if (layout_.mark() != Done::status || layout_.status_done.empty()) return "false";
    std::vector<std::string> ways;
    for (const std::string* value :
         {&layout_.status_pending, &layout_.status_done, &layout_.status_dead}) {
        if (value->empty()) continue;
        ways.push_back(column(layout_.status) + " is distinct from " + quote_text(*value));
    }
    return "(" + joined(ways, " and ") + ")";
}

std::string Wording::order(std::string_view row) const {
    const std::string prefix(row);
    const std::string by_id = prefix + quote_name(layout_.id);
    return layout_.created.empty() ? by_id : prefix + quote_name(layout_.created) + ", " + by_id;
}

// At or before the row that ended the look for keys. Its own condition, so that an index ends the
// scan there.
std::string Wording::bound() const {
    const std::string id_type = facts_.column(layout_.id).full_type;
    if (layout_.created.empty()) {
        return "($4::text is null and " + column(layout_.id) + " <= $5::" + id_type + ")";
    }
    const std::string created_type = facts_.column(layout_.created).full_type;
    return "(" + order() + ") <= ($4::" + created_type + ", $5::" + id_type + ")";
}

std::string Wording::settle() const {
    if (layout_.done == Done::erase) return "delete from " + table() + " t";
    std::vector<std::string> changes;
    if (layout_.done == Done::status) {
        changes.push_back(quote_name(layout_.status) + " = " + quote_text(layout_.status_done));
    }
    if (layout_.done == Done::flag) changes.push_back(quote_name(layout_.flag) + " = true");
    if (!layout_.done_at.empty()) {
        changes.push_back(quote_name(layout_.done_at) + " = " + now_for(layout_.done_at));
    }
    return "update " + table() + " t set " + joined(changes, ", ");
}

// What is written for a refused row, from the columns of `v` in settle_failed.sql.
std::string Wording::fail() const {
    std::vector<std::string> changes;
    if (!layout_.attempts.empty()) {
        const std::string& type = facts_.column(layout_.attempts).type;
        changes.push_back(quote_name(layout_.attempts) + " = v.attempts::" + type);
    }
    if (!layout_.error.empty()) {
        // A cast that is written out cuts what is too long.
        const std::string type = facts_.column(layout_.error).full_type;
        changes.push_back(quote_name(layout_.error) + " = v.error::" + type);
    }
    if (!layout_.due.empty()) {
        const std::string due = quote_name(layout_.due);
        const std::string& type = facts_.column(layout_.due).type;
        changes.push_back(due + " = coalesce(v.due::" + type + ", t." + due + ")");
    }
    if (!layout_.status_dead.empty()) {
        const std::string status = quote_name(layout_.status);
        const std::string type = facts_.column(layout_.status).full_type;
        changes.push_back(
            status + " = case when v.dead then " + quote_text(layout_.status_dead) + "::" + type +
            " else t." + status + " end"
        );
    }
    return joined(changes, ", ");
}

// What makes a dead row pending again.
std::string Wording::revive() const {
    std::vector<std::string> changes;
    if (!layout_.attempts.empty()) changes.push_back(quote_name(layout_.attempts) + " = 0");
    if (!layout_.due.empty()) {
        changes.push_back(quote_name(layout_.due) + " = " + now_for(layout_.due));
    }
    if (!layout_.status_dead.empty()) {
        changes.push_back(quote_name(layout_.status) + " = " + quote_text(layout_.status_pending));
    }
    return changes.empty() ? quote_name(layout_.id) + " = t." + quote_name(layout_.id)
                           : joined(changes, ", ");
}

std::int64_t Wording::attempts_limit(const Destination& destination) const {
    const std::int64_t most = limit_of(facts_.column(layout_.attempts).type);
    const std::int64_t asked = destination.retry.attempts_max;
    return asked == 0 ? most : std::min(asked, most);
}

std::vector<std::string> Wording::deaths(const Destination& destination) const {
    std::vector<std::string> ways;
    if (!layout_.attempts.empty()) {
        ways.push_back(attempts() + " >= " + std::to_string(attempts_limit(destination)));
    }
    if (!layout_.status_dead.empty()) {
        const std::string dead = column(layout_.status) + " = " + quote_text(layout_.status_dead);
        ways.push_back("coalesce(" + dead + ", false)");
    }
    return ways;
}

std::string Wording::alive(const Destination& destination) const {
    std::string text = "(" + pending();
    for (const std::string& death : deaths(destination)) text += " and not " + death;
    return text + ")";
}

std::string Wording::buried(const Destination& destination) const {
    const std::vector<std::string> ways = deaths(destination);
    if (ways.empty()) return "false";
    return "((" + joined(ways, " or ") + ") and not coalesce(" + done() + ", false))";
}

// Letter by letter, as patterns are everywhere else: a collation that takes two spellings for one
// knows no LIKE.
std::string Wording::wanted(const Destination& destination) const {
    const std::vector<std::string>& topics = destination.topics;
    if (std::find(topics.begin(), topics.end(), "*") != topics.end()) return "true";
    std::vector<std::string> ways;
    for (const std::string& topic : topics) {
        ways.push_back(
            "coalesce(" + text(layout_.topic) + " collate \"C\" like " +
            quote_text(postgres::like_pattern(topic)) + ", false)"
        );
    }
    return "(" + joined(ways, " or ") + ")";
}

std::int64_t Wording::seed() const {
    return order_key(Order::key, facts_.schema, facts_.table, 0);
}

std::int64_t Wording::presence(std::string_view destination) const {
    return order_key(Order::key, table(), destination, 0);
}

Wording::Parts Wording::parts() const {
    return {
        {"table", table()},
        {"id_text", text(layout_.id)},
        {"id_type", facts_.column(layout_.id).full_type},
        {"id", column(layout_.id)},
        {"message_id", message_id()},
        {"topic", text(layout_.topic)},
        {"key", layout_.key.empty() ? "null::text" : "nullif(" + text(layout_.key) + ", '')"},
        {"type", text(layout_.type)},
        {"payload", payload()},
        {"bytes", bytes()},
        {"stored", stored()},
        {"raw", column(layout_.payload)},
        {"sent", facts_.column(layout_.payload).type == "bytea" ? "n.raw" : "n.raw::text"},
        {"content_type", content_type()},
        {"headers", text(layout_.headers)},
        {"occurred", moment(layout_.created)},
        {"created_text", text(layout_.created)},
        {"due", moment(layout_.due)},
        {"done_at", moment(layout_.done_at.empty() ? layout_.created : layout_.done_at)},
        {"attempts", attempts()},
        {"error", text(layout_.error)},
        {"pending", pending()},
        {"done", done()},
        {"odd", odd()},
        {"status", text(layout_.status)},
        {"order", order()},
        {"settle", settle()},
        {"fail", fail()},
        {"revive", revive()},
        {"seed", std::to_string(seed())},
    };
}

std::string Wording::fill(std::string_view sql) const {
    return substitute(sql, parts());
}

std::string Wording::fill(std::string_view sql, const Destination& destination, const Parts& more)
    const {
    Parts all = parts();
    all.insert(more.begin(), more.end());
    all.emplace("buried", buried(destination));
    all.emplace("alive", alive(destination));
    all.emplace("wanted", wanted(destination));
    return substitute(sql, all);
}

}  // namespace outrider::table
