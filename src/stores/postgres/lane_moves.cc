#include "stores/postgres/lane_moves.h"

#include <algorithm>

#include "core/assert.h"

namespace outrider::postgres {
namespace {

// What the settlements say of one lane.
struct LaneMove {
    std::int64_t last = 0;  // how far it comes, if it stops
    std::int64_t delivered = 0;
    bool stopped = false;
};

std::map<std::int64_t, LaneMove> read_settlements(
    const Batch& batch,
    std::span<const Settlement> settlements
) {
    std::map<std::int64_t, LaneMove> moves;
    for (std::size_t i = 0; i < settlements.size(); ++i) {
        const Envelope& envelope = batch.envelopes[i];
        LaneMove& move = moves[std::int64_t{envelope.lane}];
        if (settlements[i].fate == Fate::done) ++move.delivered;
        if (envelope.parked) continue;
        OUTRIDER_ASSERT(!move.stopped || settlements[i].fate == Fate::left);
        if (settlements[i].fate != Fate::left || move.stopped) continue;
        move.stopped = true;
        move.last = envelope.seq - 1;
    }
    return moves;
}

// The window is finished: what it showed was handled.
Stand stand_behind(const Window& window) {
    return {
        .passed = window.snapshot,
        .floor = window.floor,
        .late = late_floors(window.passed, window.later()),
        .window = {},
        .next_floor = window.next_floor};
}

Stand stand_within(const Window& window, std::int64_t last) {
    const OpenWindow open{
        .snapshot = window.snapshot,
        .floor = window.floor,
        .floor_by = static_cast<std::int64_t>(window.floor_by),
        .upper = window.upper,
        .last = last};
    return {
        .passed = window.passed.snapshot,
        .floor = window.passed.floor,
        .late = window.passed.late,
        .window = open,
        .next_floor = window.next_floor};
}

Stand stand_after(const Window& window, const LaneMove& move, const Stand& behind) {
    if (!window.cut && !move.stopped) return behind;
    return stand_within(window, std::max(window.last, move.stopped ? move.last : window.read_to));
}

void add_lanes(const Window& window, std::map<std::int64_t, LaneMove>& moves, LaneMoves& all) {
    const Stand behind = stand_behind(window);
    for (const LaneCount& lane : window.lanes) {
        const LaneMove& move = moves[lane.lane];
        if (!window.moves() && move.delivered == 0) continue;
        Moved& moved = all[stand_after(window, move, behind)];
        moved.lanes.push_back({lane.lane, lane.delivered + move.delivered});
        const bool known = !moved.origins.empty() && moved.origins.back() == window.origin;
        if (!known) moved.origins.push_back(window.origin);
    }
}

}  // namespace

LaneMoves moves_of(
    const Batch& batch,
    const Claim& claim,
    std::span<const Settlement> settlements
) {
    std::map<std::int64_t, LaneMove> moves = read_settlements(batch, settlements);
    LaneMoves all;
    for (const Window& window : claim.windows) add_lanes(window, moves, all);
    const auto ascending = [](const LaneCount& a, const LaneCount& b) { return a.lane < b.lane; };
    for (auto& [stand, moved] : all) {
        std::sort(moved.lanes.begin(), moved.lanes.end(), ascending);
    }
    return all;
}

std::optional<KnownPlace> place_after(
    const LaneMoves& moves,
    std::size_t locked,
    std::int64_t newest,
    std::int64_t id
) {
    if (moves.size() != 1) return std::nullopt;
    const auto& [stand, moved] = *moves.begin();
    if (stand.window || moved.lanes.size() != locked) return std::nullopt;
    return KnownPlace{
        .origin = {newest + 1, moved.lanes.front().lane},
        .lanes = moved.lanes,
        .passed = {stand.passed, stand.floor, stand.late},
        .next_floor = stand.next_floor,
        .next_floor_by = static_cast<std::uint64_t>(id)};
}

LaneTexts texts_of(std::span<const LaneCount> counts) {
    ArrayText lanes, delivered;
    for (const LaneCount& count : counts) {
        lanes.add(std::int64_t{count.lane});
        delivered.add(count.delivered);
    }
    return {lanes.text(), delivered.text()};
}

std::string array_text(std::span<const std::int64_t> numbers) {
    ArrayText text;
    for (const std::int64_t number : numbers) text.add(number);
    return text.text();
}

}  // namespace outrider::postgres
