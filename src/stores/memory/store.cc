#include "stores/memory/store.h"

#include <algorithm>
#include <unordered_set>

#include "core/assert.h"
#include "core/hash.h"

namespace outrider {

// Keeps the claimed rows alive and their lanes locked.
class MemoryStoreConnection::Claim final : public Batch::Hold {
public:
    Claim(MemoryStoreConnection& store, std::vector<std::uint32_t> lanes_)
        : lanes(std::move(lanes_)),
          store_(store),
          database_(store.database_) {
        store_.open_claim_ = this;
    }
    ~Claim() override {
        const std::lock_guard lock(database_->mutex_);
        release();
    }
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;

    // With the database's mutex held. Later releases do nothing.
    void release() {
        if (!valid) return;
        valid = false;
        store_.open_claim_ = nullptr;
        DestinationState* state = store_.state();
        if (state == nullptr) return;
        for (const std::uint32_t lane : lanes) state->locked[lane] = false;
    }

    const std::vector<std::uint32_t> lanes;
    bool valid = true;
    std::vector<LogRowPtr> rows;
    std::map<std::uint32_t, std::int64_t> scanned;  // per lane: the last number read

private:
    MemoryStoreConnection& store_;
    const std::shared_ptr<MemoryDatabase> database_;
};

// Fills a batch from the state of a destination, with the database's mutex held.
class MemoryStoreConnection::Reader {
public:
    Reader(MemoryStoreConnection& store, DestinationState& state, Claim& claim, Batch& batch)
        : store_(store),
          state_(state),
          claim_(claim),
          batch_(batch) {}

    // `parked`: places for those that waited.
    void read(const BatchLimits& limits, std::size_t parked) {
        bytes_left_ = limits.bytes;
        read_parked(parked);
        read_log(limits.messages);
    }

private:
    struct Head {
        WallTime due_at;
        OrderKey key;
        // NOLINTNEXTLINE(modernize-use-nullptr): a mistake of version 14
        auto operator<=>(const Head&) const = default;
    };

    // The due keys of our lanes, longest due first.
    std::vector<Head> due_heads() {
        std::vector<Head> heads;
        for (const auto& [key, chain] : state_.parked) {
            const ParkedRow& head = chain.begin()->second;
            if (!is_ours(head.row->lane) || state_.is_held(key)) continue;
            if (head.due_at <= batch_.now) {
                heads.push_back({head.due_at, key});
            } else if (!batch_.next_due || head.due_at < *batch_.next_due) {
                batch_.next_due = head.due_at;
            }
        }
        std::sort(heads.begin(), heads.end());
        return heads;
    }

    void read_parked(std::size_t limit) {
        for (const Head& head : due_heads()) {
            if (batch_.envelopes.size() >= limit) {
                batch_.full = true;
                return;
            }
            read_chain(head.key, limit);
        }
    }

    // A message that was refused before goes alone: likely it is refused again, and the rest was
    // read for nothing.
    void read_chain(OrderKey key, std::size_t limit) {
        const auto& chain = state_.parked.at(key);
        const bool alone = chain.begin()->second.attempts > 0;
        std::size_t taken = 0;
        for (const auto& [seq, parked] : chain) {
            if (alone && taken == 1) return;
            if (batch_.envelopes.size() >= limit || !fits(*parked.row)) {
                batch_.full = true;
                return;
            }
            push(*parked.row, parked);
            ++taken;
        }
        whole_chains_.insert(key);
    }

    void read_log(std::size_t limit) {
        const std::size_t scan_max = limit * 10;
        std::size_t scanned = 0;
        for (LogRowPtr row = next_row(); row; row = next_row()) {
            if (batch_.envelopes.size() >= limit || ++scanned > scan_max) {
                batch_.full = true;
                return;
            }
            if (store_.filter_.takes(row->message.topic)) {
                if (!fits(*row)) {
                    batch_.full = true;
                    return;
                }
                push(*row, std::nullopt);
                claim_.rows.push_back(row);
            } else {
                batch_.passed = true;
            }
            claim_.scanned[row->lane] = row->seq;
        }
    }

    // The lowest number not yet read in any of our lanes.
    LogRowPtr next_row() {
        LogRowPtr next;
        for (const std::uint32_t lane : claim_.lanes) {
            const auto& rows = store_.database_->lane_rows_[lane];
            const auto at = claim_.scanned.find(lane);
            const std::int64_t after =
                at == claim_.scanned.end() ? state_.positions[lane] : at->second;
            const auto row = rows.upper_bound(after);
            if (row != rows.end() && (!next || row->first < next->seq)) next = row->second;
        }
        return next;
    }

    bool fits(const LogRow& row) {
        const std::size_t size = weight(view(row));
        if (size > bytes_left_ && !batch_.envelopes.empty()) return false;
        bytes_left_ -= std::min(size, bytes_left_);
        return true;
    }

    Envelope view(const LogRow& row) const {
        Envelope envelope;
        envelope.id = *row.message.id;
        envelope.topic = row.message.topic;
        envelope.key = row.message.key;
        envelope.type = row.message.type;
        envelope.content_type = row.message.content_type;
        envelope.payload = row.message.payload;
        envelope.headers = row.header_views;
        envelope.occurred_at = *row.message.occurred_at;
        envelope.seq = row.seq;
        envelope.lane = row.lane;
        envelope.order_key =
            order_key(store_.destination_.order, row.message.topic, row.message.key, row.seq);
        return envelope;
    }

    void push(const LogRow& row, const std::optional<ParkedRow>& parked) {
        Envelope envelope = view(row);
        std::optional<WallTime> due_at = row.message.deliver_after;
        if (parked) {
            envelope.parked = true;
            envelope.order_key = parked->key;
            envelope.attempts = parked->attempts;
            envelope.refused_at = parked->refused_at;
            due_at = parked->due_at;
            claim_.rows.push_back(parked->row);
        } else {
            envelope.blocked = state_.is_blocked(envelope.order_key) &&
                               !whole_chains_.contains(envelope.order_key);
        }
        if (due_at && *due_at > batch_.now) envelope.deliver_after = due_at;
        batch_.envelopes.push_back(envelope);
    }

    [[nodiscard]] bool is_ours(std::uint32_t lane) const {
        return std::find(claim_.lanes.begin(), claim_.lanes.end(), lane) != claim_.lanes.end();
    }

    MemoryStoreConnection& store_;
    DestinationState& state_;
    Claim& claim_;
    Batch& batch_;
    std::size_t bytes_left_ = 0;
    std::unordered_set<OrderKey> whole_chains_;
};

DestinationState* MemoryStoreConnection::state() {
    const auto entry = database_->destinations_.find(destination_.name);
    return entry == database_->destinations_.end() ? nullptr : &entry->second;
}

std::vector<std::uint32_t> MemoryStoreConnection::lock_lanes(
    DestinationState& state,
    std::size_t most
) {
    const std::size_t count = state.locked.size();
    // Global order needs everything or nothing.
    const bool all = destination_.order == Order::global;
    const std::size_t wanted = all || most == 0 ? count : most;
    if (all && std::count(state.locked.begin(), state.locked.end(), true) > 0) return {};
    std::vector<std::uint32_t> lanes;
    for (std::size_t i = 0; i < count && lanes.size() < wanted; ++i) {
        const std::size_t lane = (first_lane_ + i) % count;
        if (state.locked[lane]) continue;
        state.locked[lane] = true;
        lanes.push_back(static_cast<std::uint32_t>(lane));
    }
    first_lane_ += wanted;
    return lanes;
}

Result<Batch> MemoryStoreConnection::claim(const BatchLimits& limits) {
    const WallTime now = database_->clock_->wall();
    std::vector<std::unique_ptr<Claim>>
        claims;  // die after the lock below is gone, as they lock themselves
    const std::lock_guard lock(database_->mutex_);
    OUTRIDER_ASSERT(open_claim_ == nullptr);
    DestinationState* state = this->state();
    if (state == nullptr || !*alive_) return Error{Remedy::yield, "the connection is gone"};
    if (!state->takes(destination_.topics)) {
        return another_list(destination_, topics_json(state->destination.topics));
    }
    Batch batch;
    batch.now = now;
    batch.paused = state->paused;
    if (batch.paused) return batch;
    const std::size_t parked = parked_share_.of(limits.messages);
    // A look at some lanes that finds nothing is followed by one at all of them: whoever rang may
    // have meant the others.
    for (const std::size_t most : {database_->options_.lanes_per_claim, std::size_t{0}}) {
        std::vector<std::uint32_t> lanes = lock_lanes(*state, most);
        batch.held_elsewhere = lanes.empty();
        if (batch.held_elsewhere) return batch;
        Claim& claim = *claims.emplace_back(std::make_unique<Claim>(*this, std::move(lanes)));
        batch.next_due.reset();
        Reader(*this, *state, claim, batch).read(limits, parked);
        if (!batch.envelopes.empty() || batch.passed) {
            batch.hold = std::move(claims.back());
            break;
        }
        claim.release();
        if (most == 0) break;
    }
    return batch;
}

Result<void> MemoryStoreConnection::settle(Batch batch, std::span<const Settlement> settlements) {
    OUTRIDER_ASSERT(batch.hold != nullptr);
    OUTRIDER_ASSERT(batch.envelopes.size() == settlements.size());
    const std::lock_guard lock(database_->mutex_);
    auto& claim = dynamic_cast<Claim&>(*batch.hold);
    DestinationState* state = this->state();
    if (!claim.valid || state == nullptr) return Error{Remedy::yield, "the claim was lost"};
    move_cursors(*state, batch, settlements);
    for (std::size_t i = 0; i < settlements.size(); ++i) {
        apply(*state, batch.envelopes[i], settlements[i], batch.now);
    }
    claim.release();
    return {};
}

void MemoryStoreConnection::move_cursors(
    DestinationState& state,
    const Batch& batch,
    std::span<const Settlement> settlements
) {
    std::map<std::uint32_t, std::int64_t> ends = dynamic_cast<Claim&>(*batch.hold).scanned;
    std::set<std::uint32_t> stopped;
    for (std::size_t i = 0; i < settlements.size(); ++i) {
        const Envelope& envelope = batch.envelopes[i];
        if (envelope.parked) continue;
        if (settlements[i].fate == Fate::left && stopped.insert(envelope.lane).second) {
            ends[envelope.lane] = envelope.seq - 1;
        }
        OUTRIDER_ASSERT(!stopped.contains(envelope.lane) || settlements[i].fate == Fate::left);
    }
    for (const auto& [lane, position] : ends) {
        state.positions[lane] = std::max(state.positions[lane], position);
    }
}

void MemoryStoreConnection::apply(
    DestinationState& state,
    const Envelope& envelope,
    const Settlement& settlement,
    WallTime now
) {
    if (settlement.fate == Fate::left) return;
    if (settlement.fate == Fate::done) state.delivered += 1;
    if (envelope.parked) {
        auto chain = state.parked.find(envelope.order_key);
        chain->second.erase(envelope.seq);
        if (chain->second.empty()) state.parked.erase(chain);
    }
    if (settlement.fate == Fate::done) return;
    auto& claim = static_cast<Claim&>(*open_claim_);
    const auto row = std::find_if(claim.rows.begin(), claim.rows.end(), [&](const LogRowPtr& r) {
        return r->seq == envelope.seq;
    });
    ParkedRow parked{
        *row,
        settlement.park_key,
        settlement.attempts,
        settlement.refused_at,
        settlement.due_at,
        settlement.reason,
    };
    if (settlement.fate == Fate::again) {
        state.parked[parked.key][envelope.seq] = std::move(parked);
    } else {
        state.dead[envelope.seq] = {std::move(parked), now, settlement.holds_key};
    }
}

void MemoryStoreConnection::sever() {
    const std::lock_guard lock(database_->mutex_);
    *alive_ = false;
    if (open_claim_ != nullptr) open_claim_->release();
}

}  // namespace outrider
