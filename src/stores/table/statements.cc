#include "stores/table/statements.h"

#include "stores/table/claim.h"
#include "stores/table/sql.h"

namespace outrider::table {
namespace {

// The rows of the keys that were locked, and those that have none. A parameter that a statement
// does not need must still have a type.
std::string mine_of(const Destination& destination, const std::string& chosen) {
    if (destination.order == Order::global) return "($3::text[] is not null)";
    return "(({key} is null and " + chosen + ") or ({key} in (select unnest($3::text[]))) is true)";
}

std::string chosen_by(const std::string& parameter, bool chosen) {
    if (!chosen) return "(" + parameter + "::text is null)";
    return "({id} = any (" + parameter + "::{id_type}[]))";
}

}  // namespace

Statements::Statements(const Wording& wording, const Destination& destination, bool chosen) {
    const auto word = [&](std::string_view sql) { return wording.fill(sql); };
    const std::string ready =
        blocks(destination) ? "true" : word("coalesce({due} <= clock_timestamp(), true)");
    const bool holds = blocks(destination) && destination.after_death == AfterDeath::hold;
    const std::string listed =
        wording.fill(holds ? "({alive} or {buried})" : "{alive}", destination);
    const Wording::Parts common = {{"ready", ready}, {"listed", listed}};
    const auto with = [&](std::string_view sql, Wording::Parts more) {
        more.insert(common.begin(), common.end());
        return wording.fill(sql, destination, more);
    };
    const std::string mine = word(mine_of(destination, chosen_by("$7", chosen)));
    free = with(sql::claim_free, {{"chosen", word(chosen_by("$4", chosen))}});
    heads = with(sql::claim_heads, {{"chosen", word(chosen_by("$5", chosen))}});
    const std::string unbound = "($4::text is null and $5::text is null)";
    rows = with(sql::claim_rows, {{"mine", mine}, {"bound", unbound}});
    bounded = with(sql::claim_rows, {{"mine", mine}, {"bound", wording.bound()}});
    lock = word("select pg_try_advisory_xact_lock({seed})");
    review = with(sql::review, {});
    done = word(sql::settle_done);
    if (!wording.fill("{fail}").empty()) failed = word(sql::settle_failed);
}

}  // namespace outrider::table
