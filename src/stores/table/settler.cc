#include "stores/table/settler.h"

#include <algorithm>

#include "core/assert.h"
#include "core/clock.h"
#include "stores/table/sql.h"

namespace outrider::table {

using postgres::ArrayText;
using postgres::Parameters;

void Settler::add(const Claim& claim, std::span<const Settlement> settlements, bool at_once) {
    OUTRIDER_ASSERT(claim.places.size() == settlements.size());
    pipeline_.add("settle_plan", std::string(sql::settle_plan));
    for (std::size_t i = 0; i < settlements.size(); ++i) {
        const Place& place = claim.places[i];
        const Fate fate = settlements[i].fate;
        if (fate == Fate::again || fate == Fate::dead) collect_failed(place, settlements[i]);
        if (fate != Fate::done) continue;
        Done& done = done_[place.part];
        done.tids.add(place.tid);
        ++done.count;
        if (!wording_.layout().settles_each) continue;
        add_done(place.part, done);
        done = Done{};
    }
    for (const auto& [part, done] : done_) add_done(part, done);
    if (at_once) pipeline_.add("settle_at_once", "set constraints all immediate");
    if (!has_failed()) return;
    pipeline_.add("settle_savepoint", "savepoint outrider_done");
    for (const auto& [part, failed] : failed_) add_failed(part, failed);
}

Result<void> Settler::keep_done() const {
    return connection_.run_script("rollback to savepoint outrider_done; commit");
}

void Settler::collect_failed(const Place& place, const Settlement& settlement) {
    const bool dead = settlement.fate == Fate::dead;
    const bool by_count = dead && wording_.layout().status_dead.empty();
    const std::int64_t limit = wording_.attempts_limit(destination_);
    const std::int64_t attempts = settlement.attempts;
    Failed& failed = failed_[place.part];
    failed.tids.add(place.tid);
    // Who dies before its time, because nobody could ever take it, is past the limit all the same.
    failed.attempts.add(by_count ? std::max(attempts, limit) : std::min(attempts, limit));
    failed.errors.add(std::string_view(connection_.storable(settlement.reason)));
    if (dead) {
        failed.dues.add_null();
    } else {
        failed.dues.add(std::string_view(to_iso_micros(settlement.due_at)));
    }
    failed.deads.add(dead);
    ++failed.count;
}

void Settler::add_done(std::int64_t part, const Done& done) {
    if (done.count == 0) return;
    Parameters parameters;
    parameters.add(std::string_view(done.tids.text())).add(part).add(done.count);
    pipeline_.add("settle_done", statements_.done, parameters);
}

void Settler::add_failed(std::int64_t part, const Failed& failed) {
    Parameters parameters;
    parameters.add(std::string_view(failed.tids.text())).add(part).add(failed.count);
    for (const ArrayText* array : {&failed.attempts, &failed.errors, &failed.dues, &failed.deads}) {
        parameters.add(std::string_view(array->text()));
    }
    pipeline_.add("settle_failed", statements_.failed, parameters);
}

}  // namespace outrider::table
