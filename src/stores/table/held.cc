#include "stores/table/held.h"

#include <algorithm>
#include <set>

namespace outrider::table {
namespace {

constexpr Duration kReviewEvery = std::chrono::seconds(1);

}  // namespace

void Held::hold(const std::string& id, Entry entry) {
    const std::lock_guard lock(mutex_);
    entries_.insert_or_assign(id, std::move(entry));
    if (entries_.size() <= kEntriesMax) return;
    entries_.erase(std::min_element(
        entries_.begin(),
        entries_.end(),
        [](const auto& a, const auto& b) { return a.second.until < b.second.until; }
    ));
}

void Held::release(std::string_view id) {
    const std::lock_guard lock(mutex_);
    if (const auto found = entries_.find(id); found != entries_.end()) entries_.erase(found);
}

void Held::put_off(std::string_view id, MonoTime until) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(id);
    if (found != entries_.end() && found->second.by_table) found->second.until = until;
}

std::vector<std::string> Held::to_review(MonoTime now) {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> ids;
    if (now < review_at_) return ids;
    review_at_ = now + kReviewEvery;
    for (const auto& [id, entry] : entries_) {
        if (entry.until > now) ids.push_back(id);
    }
    return ids;
}

void Held::rest_until(MonoTime then) {
    const std::lock_guard lock(mutex_);
    review_at_ = std::max(review_at_, then);
}

bool Held::empty() const {
    const std::lock_guard lock(mutex_);
    return entries_.empty();
}

std::optional<Held::Entry> Held::find(std::string_view id) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end()) return std::nullopt;
    return found->second;
}

Held::Waiting Held::waiting(MonoTime now) const {
    const std::lock_guard lock(mutex_);
    Waiting waiting;
    std::set<std::string_view> keys;
    for (const auto& [id, entry] : entries_) {
        if (entry.until <= now) continue;
        waiting.ids.push_back(id);
        if (!entry.key.empty() && keys.insert(entry.key).second) waiting.keys.push_back(entry.key);
        waiting.next = std::min(waiting.next.value_or(entry.until), entry.until);
    }
    return waiting;
}

}  // namespace outrider::table
