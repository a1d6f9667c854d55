#include "stores/postgres/passed.h"

#include <algorithm>
#include <charconv>

#include "core/assert.h"
#include "core/text.h"

namespace outrider::postgres {
namespace {

using Id = std::uint64_t;

// Numbers that a claim may look at in vain.
constexpr std::int64_t kNear = 1000;

Id read_id(std::string_view text) {
    Id id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    OUTRIDER_ASSERT(error == std::errc() && end == text.data() + text.size());
    return id;
}

struct Snapshot {
    explicit Snapshot(std::string_view text) {
        const std::vector<std::string> parts = split(text, ':');
        OUTRIDER_ASSERT(parts.size() >= 2);
        xmax = read_id(parts[1]);
        if (parts.size() == 2) return;  // nothing was in progress
        for (const std::string& id : split(parts[2], ',')) in_progress.push_back(read_id(id));
    }

    Id xmax = 0;
    std::vector<Id> in_progress;  // ascending
};

}  // namespace

std::vector<std::int64_t> late_floors(const Passed& passed, const Later& later) {
    const Snapshot before(passed.snapshot);
    std::vector<std::int64_t> floors;
    for (const Id id : Snapshot(later.snapshot).in_progress) {
        if (id >= later.floor_by) {
            floors.push_back(later.floor);
            continue;
        }
        if (id >= before.xmax) {
            floors.push_back(passed.floor);
            continue;
        }
        const auto known =
            std::lower_bound(before.in_progress.begin(), before.in_progress.end(), id);
        const auto place = static_cast<std::size_t>(known - before.in_progress.begin());
        const bool is_known = known != before.in_progress.end() && *known == id;
        floors.push_back(is_known && place < passed.late.size() ? passed.late[place] : 0);
    }
    return floors;
}

Reach reach_of(const Passed& passed) {
    const std::vector<Id> ids = Snapshot(passed.snapshot).in_progress;
    Reach reach{.low = passed.floor, .far = {}};
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const std::int64_t floor = i < passed.late.size() ? passed.late[i] : 0;
        if (floor < passed.floor - kNear) {
            reach.far.push_back(ids[i]);
        } else {
            reach.low = std::min(reach.low, floor);
        }
    }
    return reach;
}

}  // namespace outrider::postgres
