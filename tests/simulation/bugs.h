#pragma once

#include <memory>
#include <string_view>

#include "core/broker.h"
#include "core/store.h"
#include "core/store_admin.h"

namespace outrider::simulation {

// Mistakes that somebody could make. Each is planted between the real code and the simulated world,
// never in the code itself, and the checker must find it.
enum class Bug : std::uint8_t {
    none,
    unanswered_taken_for_acknowledged,
    settle_before_publish,
    lanes_not_locked,
    cursor_past_unread,
    late_commit_lost,
    false_promise_of_order,
    blocked_flag_dropped,
    parked_forgotten,
    dead_forgotten,
    clean_up_ignores_cursors,
    attempts_charged_in_outage,
    rollback_published,
    whole_burst_acknowledged,
    key_continues_after_failure,
    key_continues_after_death,
    global_order_by_key,
    settle_forgotten,
    headers_of_neighbour,
    delay_ignored,
    circuit_never_closes,
    refusal_taken_for_death,
    stale_settle_written,
    keys_wait_for_each_other,
    outage_stops_everybody,
    count,
};

inline constexpr std::size_t kBugs = static_cast<std::size_t>(Bug::count);

[[nodiscard]] std::string_view to_string(Bug bug);

// The same, with the bug inside where the bug is of that sort; else untouched.
[[nodiscard]] std::unique_ptr<Store> plant(
    Bug bug,
    const Destination& destination,
    std::unique_ptr<Store> store
);
[[nodiscard]] std::unique_ptr<Broker> plant(Bug bug, std::unique_ptr<Broker> broker);
[[nodiscard]] Destination plant(Bug bug, Destination destination);

// For Bug::clean_up_ignores_cursors: whatever is older than `retention` is gone, read or not.
void clean_up_unread(StoreDriver& database, const Destination& destination, Duration retention);

}  // namespace outrider::simulation
