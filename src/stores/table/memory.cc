#include "stores/table/memory.h"

namespace outrider::table {

void Memory::settled(
    const Batch& batch,
    const Claim& claim,
    std::span<const Settlement> settlements,
    bool written
) {
    const bool any_held = !held_.empty();
    for (std::size_t i = 0; i < settlements.size(); ++i) {
        const Settlement& settlement = settlements[i];
        const std::string_view id = claim.places[i].id;
        const bool buried =
            settlement.fate == Fate::dead && written && wording_.layout().can_bury();
        if (settlement.fate == Fate::left) continue;
        if (settlement.fate == Fate::done || buried) {
            if (any_held) held_.release(id);
            continue;
        }
        // Nowhere to write that it is dead: it is tried again, as seldom as the rules allow.
        const Duration delay = settlement.fate == Fate::dead ? destination_.retry.delay_max
                                                             : settlement.due_at - batch.now;
        const bool by_table =
            written && settlement.fate == Fate::again && !wording_.layout().due.empty();
        refused(batch.envelopes[i], id, settlement, delay, by_table);
    }
}

void Memory::refused(
    const Envelope& envelope,
    std::string_view id,
    const Settlement& settlement,
    Duration delay,
    bool by_table
) {
    Held::Entry entry;
    if (blocks(destination_)) entry.key = envelope.key;
    entry.until = clock_.now() + delay;
    entry.attempts = settlement.attempts;
    entry.refused_at = settlement.refused_at;
    entry.by_table = by_table;
    held_.hold(std::string(id), std::move(entry));
}

void Memory::unmarked(
    const Batch& batch,
    const Claim& claim,
    std::span<const std::size_t> envelopes
) {
    for (const std::size_t i : envelopes) {
        const std::string id(claim.places[i].id);
        Held::Entry entry = held_.find(id).value_or(Held::Entry{});
        if (blocks(destination_)) entry.key = batch.envelopes[i].key;
        ++entry.unmarked;
        entry.until = clock_.now() + retry_delay(destination_.retry, entry.unmarked, dice_);
        entry.by_table = false;
        held_.hold(id, std::move(entry));
    }
}

}  // namespace outrider::table
