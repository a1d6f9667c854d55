#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "outrider/time.h"

namespace outrider::table {

// What a relay remembers of rows that must wait, since most tables have no column for it: until
// when, how often they were refused, and which key they hold back. Lost with the process, which
// costs an early try and nothing else. Shared by the workers of a destination; safe from any
// thread.
class Held {
public:
    struct Entry {
        std::string key;  // held back with it; empty: none
        MonoTime until;
        std::uint32_t attempts = 0;
        std::optional<WallTime> refused_at;
        std::uint32_t unmarked = 0;  // how often it was delivered and the table refused the mark
        bool by_table = false;  // the table says until when, and somebody may have changed it there
    };

    // Beyond this many, those that would wake first are forgotten: they are tried too early.
    static constexpr std::size_t kEntriesMax = 10'000;

    void hold(const std::string& id, Entry entry);
    void release(std::string_view id);

    // What waits by the table's word waits until then; others are left as they are.
    void put_off(std::string_view id, MonoTime until);

    // What waits and should be looked at in the table: operators delete, replay and reschedule
    // rows. Empty while the last answer is younger than a second: one worker at a time looks.
    [[nodiscard]] std::vector<std::string> to_review(MonoTime now);

    // No review before this.
    void rest_until(MonoTime then);

    // From now on batches are settled with care: the table has refused the mark of a delivered row.
    void be_careful() { careful_ = true; }
    [[nodiscard]] bool is_careful() const { return careful_; }

    [[nodiscard]] bool empty() const;
    [[nodiscard]] std::optional<Entry> find(std::string_view id) const;

    // What waits beyond `now`.
    struct Waiting {
        std::vector<std::string> ids;
        std::vector<std::string> keys;  // each once
        std::optional<MonoTime> next;   // when the first of them is due
    };
    [[nodiscard]] Waiting waiting(MonoTime now) const;

private:
    mutable std::mutex mutex_;
    std::map<std::string, Entry, std::less<>> entries_;
    MonoTime review_at_;
    std::atomic<bool> careful_ = false;
};

}  // namespace outrider::table
