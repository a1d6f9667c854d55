#include "stores/memory/admin.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "core/hash.h"
#include "core/topics.h"

namespace outrider {
namespace {

bool fits(const DeadFilter& filter, const std::string& destination, const Message& message) {
    if (filter.destination && *filter.destination != destination) return false;
    if (filter.id && *filter.id != *message.id) return false;
    if (filter.topic && !matches(*filter.topic, message.topic)) return false;
    return !filter.key || *filter.key == message.key;
}

bool fits(const ReplayFilter& filter, const LogRow& row) {
    if (filter.from_seq && row.seq < *filter.from_seq) return false;
    if (filter.from_time && *row.message.occurred_at < *filter.from_time) return false;
    if (filter.topic && !matches(*filter.topic, row.message.topic)) return false;
    return !filter.key || *filter.key == row.message.key;
}

// The destination takes it, has passed it, and has no dead letter of it.
bool is_passed(const DestinationState& state, const LogRow& row) {
    return matches_any(state.destination.topics, row.message.topic) &&
           row.seq <= state.positions[row.lane] && !state.dead.contains(row.seq);
}

DeadLetter describe(const std::string& destination, const DeadRow& dead, bool with_payload) {
    const Message& message = dead.parked.row->message;
    DeadLetter letter;
    letter.destination = destination;
    letter.seq = dead.parked.row->seq;
    letter.id = *message.id;
    letter.topic = message.topic;
    letter.key = message.key;
    letter.type = message.type;
    letter.content_type = message.content_type;
    if (with_payload) letter.payload = message.payload;
    letter.headers = message.headers;
    letter.occurred_at = *message.occurred_at;
    letter.attempts = dead.parked.attempts;
    letter.error = dead.parked.error;
    letter.died_at = dead.died_at;
    letter.holds_key = dead.holds_key;
    return letter;
}

DestinationStatus summarise(const DestinationState& state) {
    DestinationStatus status;
    status.name = state.destination.name;
    status.topics = read_topics(topics_json(state.destination.topics));
    std::set<OrderKey> blocked;
    for (const auto& [key, chain] : state.parked) {
        status.parked += chain.size();
        blocked.insert(key);
        for (const auto& [seq, waits] : chain) {
            if (status.parked_reason.empty()) status.parked_reason = waits.error;
        }
    }
    for (const auto& [seq, dead] : state.dead) {
        if (dead.holds_key) blocked.insert(dead.parked.key);
    }
    status.blocked_keys = blocked.size();
    status.dead = state.dead.size();
    status.delivered = state.delivered;
    status.paused = state.paused;
    status.relay_running =
        std::find(state.locked.begin(), state.locked.end(), true) != state.locked.end();
    status.circuit = state.circuit;
    status.circuit_reason = state.circuit_reason;
    return status;
}

void count_pending(
    const DestinationState& state,
    const LogRow& row,
    WallTime now,
    DestinationStatus& status
) {
    if (row.seq <= state.positions[row.lane]) return;
    if (status.pending++ == 0) status.oldest_pending_age = now - *row.message.occurred_at;
}

}  // namespace

Result<Backlog> MemoryAdmin::backlog(const std::vector<Destination>& expected) {
    const WallTime now = database_->clock_->wall();
    const std::lock_guard lock(database_->mutex_);
    std::map<std::string, DestinationState, std::less<>> newcomers;
    std::map<std::string, const DestinationState*> states;
    for (const auto& [name, state] : database_->destinations_) states.emplace(name, &state);
    for (const Destination& destination : expected) {
        if (states.contains(destination.name)) continue;
        DestinationState& state = newcomers[destination.name];
        database_->introduce(state, destination);
        states.emplace(destination.name, &state);
    }
    Backlog backlog;
    for (const auto& [name, state] : states) backlog.destinations.push_back(summarise(*state));
    std::map<std::string, std::uint64_t> unrouted;
    for (const auto& [seq, row] : database_->log_) {
        bool taken = false;
        std::size_t i = 0;
        for (const auto& [name, state] : states) {
            DestinationStatus& status = backlog.destinations[i++];
            if (!matches_any(state->destination.topics, row->message.topic)) continue;
            taken = true;
            count_pending(*state, *row, now, status);
        }
        if (!taken) ++unrouted[row->message.topic];
    }
    for (const auto& [topic, count] : unrouted) backlog.unrouted.push_back({topic, count});
    return backlog;
}

// Those that died first come first, whatever their destination.
std::uint64_t MemoryAdmin::for_each_dead(const DeadFilter& filter, const Visit& visit) {
    std::map<std::tuple<WallTime, std::int64_t, std::string>, DestinationState*> found;
    for (auto& [name, state] : database_->destinations_) {
        for (const auto& [seq, dead] : state.dead) {
            if (!fits(filter, name, dead.parked.row->message)) continue;
            found.emplace(std::tuple(dead.died_at, seq, name), &state);
        }
    }
    std::uint64_t count = 0;
    for (const auto& [place, state] : found) {
        if (count == filter.limit) break;
        const std::int64_t seq = std::get<1>(place);
        visit(*state, seq, state->dead.at(seq));  // which may remove it
        ++count;
    }
    return count;
}

Result<std::vector<DeadLetter>> MemoryAdmin::dead_letters(const DeadFilter& filter) {
    const std::lock_guard lock(database_->mutex_);
    std::vector<DeadLetter> letters;
    for_each_dead(filter, [&](DestinationState& state, std::int64_t, const DeadRow& dead) {
        letters.push_back(describe(state.destination.name, dead, false));
    });
    return letters;
}

Result<std::vector<DeadLetter>> MemoryAdmin::dead_letter(const MessageId& id) {
    const std::lock_guard lock(database_->mutex_);
    std::vector<DeadLetter> letters;
    DeadFilter filter;
    filter.id = id;
    for_each_dead(filter, [&](DestinationState& state, std::int64_t, const DeadRow& dead) {
        letters.push_back(describe(state.destination.name, dead, true));
    });
    return letters;
}

Result<std::uint64_t> MemoryAdmin::replay_dead(const DeadFilter& filter) {
    const WallTime now = database_->clock_->wall();
    const std::lock_guard lock(database_->mutex_);
    const auto replay = [&](DestinationState& state, std::int64_t seq, const DeadRow& dead) {
        ParkedRow parked = dead.parked;
        parked.attempts = 0;
        parked.refused_at.reset();
        parked.due_at = now;
        state.dead.erase(seq);
        state.parked[parked.key][seq] = std::move(parked);
    };
    const std::uint64_t count = for_each_dead(filter, replay);
    ring_all();
    return count;
}

Result<std::uint64_t> MemoryAdmin::discard_dead(const DeadFilter& filter) {
    const std::lock_guard lock(database_->mutex_);
    const std::uint64_t count =
        for_each_dead(filter, [](DestinationState& state, std::int64_t seq, const DeadRow&) {
            state.dead.erase(seq);
        });
    ring_all();
    return count;
}

Result<std::optional<std::uint64_t>> MemoryAdmin::replay(const ReplayFilter& filter, bool dry_run) {
    const WallTime now = database_->clock_->wall();
    const std::lock_guard lock(database_->mutex_);
    const auto entry = database_->destinations_.find(filter.destination);
    if (entry == database_->destinations_.end()) return std::optional<std::uint64_t>{};
    DestinationState& state = entry->second;
    std::uint64_t count = 0;
    for (const auto& [seq, row] : database_->log_) {
        if (!is_passed(state, *row) || !fits(filter, *row)) continue;
        const Message& message = row->message;
        const OrderKey key = order_key(state.destination.order, message.topic, message.key, seq);
        if (state.is_parked(key, seq) || state.is_parked(own_order_key(seq), seq)) continue;
        ++count;
        if (!dry_run) state.parked[key][seq] = {row, key, 0, std::nullopt, now, "replayed"};
    }
    ring_all();
    return std::optional(count);
}

Result<bool> MemoryAdmin::set_paused(std::string_view destination, bool paused) {
    const std::lock_guard lock(database_->mutex_);
    const auto entry = database_->destinations_.find(destination);
    if (entry == database_->destinations_.end()) return false;
    entry->second.paused = paused;
    ring_all();
    return true;
}

Result<bool> MemoryAdmin::forget(std::string_view destination) {
    const std::lock_guard lock(database_->mutex_);
    const auto entry = database_->destinations_.find(destination);
    if (entry == database_->destinations_.end()) return false;
    if (summarise(entry->second).relay_running) {
        return Error{Remedy::yield, "a relay serves this destination right now: stop it first"};
    }
    database_->destinations_.erase(entry);
    return true;
}

Result<void> MemoryAdmin::note_circuit(
    std::string_view destination,
    CircuitState state,
    std::string_view reason
) {
    const std::lock_guard lock(database_->mutex_);
    const auto entry = database_->destinations_.find(destination);
    if (entry == database_->destinations_.end()) return {};
    entry->second.circuit = state;
    entry->second.circuit_reason = reason;
    return {};
}

Result<std::uint64_t> MemoryAdmin::clean_up(Duration retention, std::size_t limit) {
    const WallTime now = database_->clock_->wall();
    const std::lock_guard lock(database_->mutex_);
    if (database_->destinations_.empty()) return std::uint64_t{0};
    std::uint64_t removed = 0;
    for (auto next = database_->log_.begin(); next != database_->log_.end() && removed < limit;) {
        const LogRow& row = *next->second;
        const bool passed = std::all_of(
            database_->destinations_.begin(),
            database_->destinations_.end(),
            [&](const auto& d) { return row.seq <= d.second.positions[row.lane]; }
        );
        if (!passed || row.stored_at + retention > now) {
            ++next;
            continue;
        }
        database_->lane_rows_[row.lane].erase(row.seq);
        next = database_->log_.erase(next);
        ++removed;
    }
    return removed;
}

void MemoryAdmin::ring_all() {
    for (Bell* bell : database_->bells_) bell->ring();
}

}  // namespace outrider
