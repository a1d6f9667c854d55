#include "stores/postgres/floors.h"

#include <algorithm>

#include "stores/postgres/lane_moves.h"
#include "stores/postgres/sql.h"

namespace outrider::postgres {
namespace {

constexpr std::int64_t kFloorLagMax = 10'000;

// To look whether somebody has ended takes as long as to look at so many numbers. Not more often
// than so: there are transactions that take hours.
constexpr std::int64_t kNumbersPerLook = 5'000;
constexpr std::int64_t kLooksMax = 50;

// Gives those a moment who were in progress when the floors were raised: for each who still is when
// the window opens, these numbers are looked at once more.
Result<void> let_end(const Connection& connection, const Rows& raised, std::int64_t numbers) {
    if (raised.count() == 0) return {};  // somebody else has moved them
    const Parameters ids = Parameters().add(raised.bytes(0, 0)).add(raised.bytes(0, 1));
    for (std::int64_t look = 0; look < std::min(numbers / kNumbersPerLook, kLooksMax); ++look) {
        const Result<Rows> unended = connection.run(std::string(sql::floor_unended), ids);
        if (!unended) return unended.error();
        if (unended->count() == 0) return {};
    }
    return {};
}

}  // namespace

bool is_far_behind(const Window& window) {
    return window.next_floor - window.known_floor > kFloorLagMax;
}

Result<bool> raise_floors(
    const Connection& connection,
    Pipeline& pipeline,
    const Names& names,
    std::int64_t destination,
    const Claim& claim
) {
    ArrayText turns, firsts, lanes, delivered, floors;
    std::int64_t numbers = 0;
    for (const Window& window : claim.windows) {
        if (window.open || !window.work || !is_far_behind(window)) continue;
        const LaneTexts texts = texts_of(window.lanes);
        turns.add(window.origin.turn);
        firsts.add(window.origin.first);
        lanes.add(std::string_view(texts.lanes));
        delivered.add(std::string_view(texts.delivered));
        floors.add(window.next_floor);
        numbers = std::max(numbers, window.upper - window.passed.floor);
    }
    if (numbers == 0) return false;
    pipeline.add(
        "settle_floor",
        names.fill(sql::settle_floor),
        Parameters()
            .add(destination)
            .add(claim.newest)
            .add(std::string_view(turns.text()))
            .add(std::string_view(firsts.text()))
            .add(std::string_view(lanes.text()))
            .add(std::string_view(delivered.text()))
            .add(std::string_view(floors.text()))
    );
    pipeline.add("commit", "commit");
    const Result<std::vector<Rows>> raised = pipeline.finish();
    if (!raised) return raised.error();
    const Result<void> ended = let_end(connection, raised->front(), numbers);
    if (!ended) return ended.error();
    return true;
}

}  // namespace outrider::postgres
