#include "stores/table/driver.h"

#include <algorithm>

#include "outrider/error.h"

#include "stores/table/admin.h"
#include "stores/table/waker.h"

namespace outrider::table {

// Two stars may stand for anything, so only what comes before the first and behind the last star of
// each must agree; without stars the rest is compared letter by letter.
bool overlap(std::string_view pattern, std::string_view other) {
    if (pattern.empty() && other.empty()) return true;
    if (!pattern.empty() && pattern[0] == '*') {
        return overlap(pattern.substr(1), other) ||
               (!other.empty() && overlap(pattern, other.substr(1)));
    }
    if (!other.empty() && other[0] == '*') return overlap(other, pattern);
    if (pattern.empty() || other.empty() || pattern[0] != other[0]) return false;
    return overlap(pattern.substr(1), other.substr(1));
}

std::optional<std::string> clash(const Destination& one, const Destination& other) {
    for (const std::string& mine : one.topics) {
        for (const std::string& theirs : other.topics) {
            if (!overlap(mine, theirs)) continue;
            return "destinations '" + one.name + "' and '" + other.name +
                   "' both take topics like '" + mine +
                   "': a row of an existing table is delivered once, so give them topics that do "
                   "not overlap, or change over to the log ('outrider import')";
        }
    }
    return std::nullopt;
}

Error no_start_now(const Destination& destination) {
    return {
        Remedy::correct,
        "destination '" + destination.name +
            "': start = \"now\" is not possible on an existing table, whose rows are either "
            "delivered or not"};
}

TableDriver::TableDriver(TablePlace place, std::vector<Destination> destinations)
    : place_(std::move(place)),
      destinations_(std::move(destinations)) {
}

Result<void> TableDriver::admit(const Destination& destination) {
    const std::lock_guard lock(mutex_);
    for (const Destination& other : destinations_) {
        if (other.name == destination.name) continue;
        if (const auto why = clash(destination, other)) return Error{Remedy::correct, *why};
    }
    const bool known = std::any_of(destinations_.begin(), destinations_.end(), [&](const auto& d) {
        return d.name == destination.name;
    });
    if (!known) destinations_.push_back(destination);
    return {};
}

std::shared_ptr<Held> TableDriver::held(const std::string& destination) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Held>& held = held_[destination];
    if (!held) held = std::make_shared<Held>();
    return held;
}

Result<std::unique_ptr<Store>> TableDriver::open(const Destination& destination) {
    if (destination.start == Start::now) return no_start_now(destination);
    if (Result<void> admitted = admit(destination); !admitted) return admitted.error();
    Result<std::unique_ptr<TableStore>> store =
        TableStore::open(place_, destination, held(destination.name));
    if (!store) return store.error();
    return std::unique_ptr<Store>(std::move(store).value());
}

Result<std::unique_ptr<StoreAdmin>> TableDriver::open_admin(IfMissing /*if_missing*/) {
    std::vector<Destination> destinations;
    {
        const std::lock_guard lock(mutex_);
        destinations = destinations_;
    }
    TableAdmin::HeldRows held;
    for (const Destination& one : destinations) held.emplace(one.name, this->held(one.name));
    // May wait for the server.
    return TableAdmin::open(place_, std::move(destinations), std::move(held));
}

std::unique_ptr<Waker> TableDriver::make_waker(Observer& /*observer*/) {
    return std::make_unique<PollingWaker>();
}

std::shared_ptr<StoreDriver> open_store(std::string conninfo, const TableOptions& options) {
    Result<Layout> layout = layout_of(options);
    if (!layout) throw Failure(layout.error());
    return std::make_shared<TableDriver>(
        TablePlace{std::move(conninfo), std::move(layout).value()}, std::vector<Destination>()
    );
}

}  // namespace outrider::table
