#pragma once

#include <compare>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/decide.h"
#include "stores/postgres/claim.h"

namespace outrider::postgres {

// A window that was not read to its end, as {schema}.progress has it.
struct OpenWindow {
    std::string snapshot;  // S
    std::int64_t floor = 0;
    std::int64_t floor_by = 0;
    std::int64_t upper = 0;
    std::int64_t last = 0;

    [[nodiscard]] auto operator<=>(const OpenWindow&) const = default;
};

// What is there instead, where none is open.
inline constexpr std::int64_t kFloorByNobody = std::numeric_limits<std::int64_t>::max();

// Where lanes stand, as {schema}.progress has it.
struct Stand {
    std::string passed;  // P
    std::int64_t floor = 0;
    std::vector<std::int64_t> late;
    std::optional<OpenWindow> window;
    std::int64_t next_floor = 0;

    [[nodiscard]] auto operator<=>(const Stand&) const = default;
};

// Lanes that stand together from now on, ascending, with all that was delivered in each, and where
// they were found, all of them different.
struct Moved {
    std::vector<LaneCount> lanes;
    std::vector<Origin> origins;
};

// The lanes that a settle moves, by where they stand afterwards: those that stand together have one
// row, also if they came from different places. A lane stops before the first message from the log
// that was left. Pure.
using LaneMoves = std::map<Stand, Moved>;
[[nodiscard]] LaneMoves moves_of(
    const Batch& batch,
    const Claim& claim,
    std::span<const Settlement> settlements
);

// Where the moves of a settle have left lanes, if all that were `locked` stand together, with no
// window open. `newest`: the turn that they came behind, `id`: the settle's own.
[[nodiscard]] std::optional<KnownPlace> place_after(
    const LaneMoves& moves,
    std::size_t locked,
    std::int64_t newest,
    std::int64_t id
);

// Lanes and what was delivered in each, as the server reads arrays.
struct LaneTexts {
    std::string lanes;
    std::string delivered;
};
[[nodiscard]] LaneTexts texts_of(std::span<const LaneCount> counts);
[[nodiscard]] std::string array_text(std::span<const std::int64_t> numbers);

}  // namespace outrider::postgres
