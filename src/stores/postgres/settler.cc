#include "stores/postgres/settler.h"

#include "core/assert.h"
#include "core/clock.h"
#include "stores/postgres/sql.h"

namespace outrider::postgres {
namespace {

void add_time(ArrayText& array, const std::optional<WallTime>& time) {
    if (time) {
        array.add(std::string_view(to_iso_micros(*time)));
    } else {
        array.add_null();
    }
}

// s, sf, sf_by, u and last.
void add_window(Parameters& parameters, const std::optional<OpenWindow>& window) {
    if (!window) {
        parameters.add_null().add_null().add(kFloorByNobody).add_null().add_null();
        return;
    }
    parameters.add(std::string_view(window->snapshot))
        .add(window->floor)
        .add(window->floor_by)
        .add(window->upper)
        .add(window->last);
}

}  // namespace

void Settler::add(
    const Batch& batch,
    const Claim& claim,
    std::span<const Settlement> settlements,
    const LaneMoves& moves
) {
    OUTRIDER_ASSERT(batch.envelopes.size() == settlements.size());
    for (std::size_t i = 0; i < settlements.size(); ++i) {
        collect(batch.envelopes[i], claim.places[i], settlements[i]);
    }
    add_parked();
    add_dead();
    if (unparks_) {
        pipeline_.add(
            "settle_unpark",
            names_.fill(sql::settle_unpark),
            Parameters().add(destination_).add(std::string_view(unparked_.text()))
        );
    }
    add_keys();
    add_cursors(moves, claim.newest);
}

void Settler::collect(const Envelope& envelope, int segment, const Settlement& settlement) {
    if (settlement.fate == Fate::left) return;
    if (envelope.parked) touched_.insert(envelope.order_key);
    if (settlement.fate == Fate::again) return park(envelope, segment, settlement);
    if (settlement.fate == Fate::dead) bury(envelope, segment, settlement);
    if (envelope.parked) {
        unparked_.add(envelope.seq);
        unparks_ = true;
    }
}

void Settler::park(const Envelope& envelope, int segment, const Settlement& settlement) {
    Waiting& waiting = waiting_[segment];
    waiting.lanes.add(std::int64_t{envelope.lane});
    waiting.seqs.add(envelope.seq);
    waiting.keys.add(settlement.park_key);
    waiting.attempts.add(std::int64_t{settlement.attempts});
    add_time(waiting.refused_at, settlement.refused_at);
    add_time(waiting.due_at, settlement.due_at);
    waiting.errors.add(std::string_view(connection_.storable(settlement.reason)));
    touched_.insert(settlement.park_key);
}

void Settler::bury(const Envelope& envelope, int segment, const Settlement& settlement) {
    Dying& dying = dying_[segment];
    dying.lanes.add(std::int64_t{envelope.lane});
    dying.seqs.add(envelope.seq);
    dying.keys.add(settlement.park_key);
    dying.attempts.add(std::int64_t{settlement.attempts});
    dying.holds.add(settlement.holds_key);
    dying.errors.add(std::string_view(connection_.storable(settlement.reason)));
    touched_.insert(settlement.park_key);
}

std::string Settler::statement(std::string_view sql, int segment) const {
    return Names::fill(names_.fill(sql), "segment", std::to_string(segment));
}

void Settler::add_parked() {
    for (const auto& [segment, waiting] : waiting_) {
        Parameters parameters;
        parameters.add(destination_);
        for (const ArrayText* array :
             {&waiting.lanes,
              &waiting.seqs,
              &waiting.keys,
              &waiting.attempts,
              &waiting.refused_at,
              &waiting.due_at,
              &waiting.errors}) {
            parameters.add(std::string_view(array->text()));
        }
        if (segment == 0) {
            pipeline_.add("settle_park_again", names_.fill(sql::settle_park_again), parameters);
            continue;
        }
        const std::string name = "settle_park_" + std::to_string(segment);
        pipeline_.add(name, statement(sql::settle_park, segment), parameters);
    }
}

void Settler::add_dead() {
    for (const auto& [segment, dying] : dying_) {
        Parameters parameters;
        parameters.add(destination_);
        for (const ArrayText* array :
             {&dying.lanes,
              &dying.seqs,
              &dying.keys,
              &dying.attempts,
              &dying.holds,
              &dying.errors}) {
            parameters.add(std::string_view(array->text()));
        }
        if (segment == 0) {
            pipeline_.add("settle_bury_parked", names_.fill(sql::settle_bury_parked), parameters);
            continue;
        }
        const std::string name = "settle_bury_" + std::to_string(segment);
        pipeline_.add(name, statement(sql::settle_bury, segment), parameters);
    }
}

void Settler::add_keys() {
    if (touched_.empty()) return;
    ArrayText keys;
    for (const OrderKey key : touched_) keys.add(key);
    const Parameters parameters = Parameters().add(destination_).add(std::string_view(keys.text()));
    pipeline_.add("refresh_key", names_.fill(sql::refresh_key), parameters);
    pipeline_.add("drop_key", names_.fill(sql::drop_key), parameters);
}

void Settler::add_cursors(const LaneMoves& moves, std::int64_t newest) {
    for (const auto& [stand, moved] : moves) {
        const LaneTexts texts = texts_of(moved.lanes);
        Parameters parameters;
        parameters.add(destination_)
            .add(newest)
            .add(moved.origins.front().turn)
            .add(moved.origins.front().first)
            .add(std::int64_t{moved.lanes.front().lane})
            .add(std::string_view(texts.lanes))
            .add(std::string_view(texts.delivered))
            .add(std::string_view(stand.passed))
            .add(stand.floor)
            .add(std::string_view(array_text(stand.late)));
        add_window(parameters, stand.window);
        parameters.add(stand.next_floor);
        pipeline_.add("settle_cursor", names_.fill(sql::settle_cursor), parameters);
        for (const Origin& origin : std::span(moved.origins).subspan(1)) {
            pipeline_.add(
                "settle_origin",
                names_.fill(sql::settle_origin),
                Parameters().add(destination_).add(origin.turn).add(origin.first)
            );
        }
    }
}

}  // namespace outrider::postgres
