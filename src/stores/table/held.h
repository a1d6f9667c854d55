#pragma once

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
    };

    // Beyond this many, those that would wake first are forgotten: they are tried too early.
    static constexpr std::size_t kEntriesMax = 10'000;

    void hold(const std::string& id, Entry entry);
    void release(std::string_view id);
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
};

}  // namespace outrider::table
